"""The wire: documents, views, the stream's grammar. Pure: values in, values out.

Nothing here knows a model server, a tool's owner, a socket or a clock. Everything else in Antiphon stands on it.
"""
