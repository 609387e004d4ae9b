"""The rooms that this process has open: each a cache of its log, with its subscribers and its timers."""
