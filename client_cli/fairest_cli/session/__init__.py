"""The way to a server: connection, identity, a visit to one room, a server started at home."""
