"""Stages: what happens to events between the upstream and the client. Each is one file with `types` and `feed`, and exists once for both APIs."""
