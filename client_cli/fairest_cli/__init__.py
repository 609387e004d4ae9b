"""The terminal client: a connection keeps a model up to date; full screen, lines, JSON and bots work from the model."""
