"""The boards as text, and keys as moves: pure functions of the model."""
