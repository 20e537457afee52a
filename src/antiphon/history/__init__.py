"""What a model is shown of a thread's past. Pure."""
