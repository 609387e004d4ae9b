"""The terminal client: connection -> model -> faces. Plain lines, JSON and bots are faces of the same model."""
