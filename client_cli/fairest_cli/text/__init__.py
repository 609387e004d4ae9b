"""Races, replays and practice as lines of text, for pipes, screen readers and plain terminals."""
