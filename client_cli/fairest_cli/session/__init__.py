"""The way to a server: the connection, the identity, the session in one room, and a server started on this machine."""
