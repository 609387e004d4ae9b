"""Every word on the wire: what a client may say, what a server may say, and how text becomes either.

Read `from_client` and `from_server` first; `entries` holds what the numbered view of a room is made of, `scene` folds
it into what a viewer has seen. docs/protocol.md and docs/asyncapi.json are generated from these models.
"""
