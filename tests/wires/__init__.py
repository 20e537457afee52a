"""Both ends of the gateway's wires at byte level: an upstream that sends exactly what a test says, a client that reads whatever comes."""
