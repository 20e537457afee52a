"""Model servers whose answers are scripts: a Responses server, a strict Chat Completions server and a stdio MCP server.

They know nothing of Antiphon: the wire they speak is written from the outside, so that a mistake cannot be made twice.
"""
