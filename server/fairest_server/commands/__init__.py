"""The commands of `fairest-server`: to serve, and what an operator does beside running servers."""
