"""Everything that touches a client's socket: listeners, admission, pages, the WebSocket, sessions."""
