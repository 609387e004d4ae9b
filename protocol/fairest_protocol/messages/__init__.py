"""The messages on the wire, and the codec between them and their text.

Read `from_client` and `from_server` first. `entries` holds the numbered entries of a view; `scene` is not a message of
its own, but the fold of these entries into what a viewer has seen, and part of a snapshot. docs/asyncapi.json and parts
of docs/protocol.md are generated from these models and their docstrings.
"""
