"""The parts that server and client share: the game (`calculation`) and the messages on the wire (`messages`)."""
