"""What server and client must agree on: the game (`calculation`) and the messages on the wire (`messages`)."""
