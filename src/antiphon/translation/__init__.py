"""From the client's request to the upstream's, and from its bytes to Responses events. Pure; what an upstream can do is data (`dialect`)."""
