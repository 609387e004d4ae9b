"""The processes of a deployment: the heartbeat of this one, the sweep for rooms that others left behind."""
