"""The gateway's HTTP edge: routes, bodies, streams, errors in OpenAI's form."""
