"""The archive: records of finished matches as files, outside of Redis."""
