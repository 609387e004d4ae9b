"""The terminal client: a connection keeps a model up to date, and the full screen, lines, JSON and bots work from it."""
