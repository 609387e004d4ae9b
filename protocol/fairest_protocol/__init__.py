"""What both ends of Fairest must agree on: the game, and every word on the wire."""
