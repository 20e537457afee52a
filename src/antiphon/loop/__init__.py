"""One run of a request: rounds with a model until there is an answer. It knows the world outside by its ports only."""
