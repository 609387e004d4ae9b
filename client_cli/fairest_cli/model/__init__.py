"""The client's knowledge of a room, and the checks that hold the server to its seal. Pure."""
