"""The daily deal as pure functions and values: an attempt, its clock, and what its player is shown of it."""
