"""The race server: a session passes messages to its room, the room to its log, the log to views, views to outboxes."""
