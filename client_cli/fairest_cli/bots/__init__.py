"""Bots: programs that play over the wire as people do."""
