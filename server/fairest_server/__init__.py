"""The race server: connection -> room -> log -> views -> outbox. `app` wires it together."""
