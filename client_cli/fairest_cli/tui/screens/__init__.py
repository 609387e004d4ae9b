"""One module for each screen, named after what the game calls it."""
