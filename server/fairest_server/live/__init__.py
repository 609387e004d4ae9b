"""Rooms as this process has them open: each a cache of its log, with its subscribers and its timers."""
