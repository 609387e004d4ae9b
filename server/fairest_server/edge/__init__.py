"""Whatever touches a client's socket: listeners, admission, the WebSocket, its session and its outbox."""
