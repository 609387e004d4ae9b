"""The text client: races, replays and practice as lines, for pipes, screen readers and plain terminals."""
