"""The boards as lines of text, and keys as moves: pure functions of the model."""
