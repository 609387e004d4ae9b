-- Read a room at one instant.
--
-- KEYS  log, deadlines of the bucket, lobby of the bucket
-- ARGV  room
-- A line before this one is old_entries.lua: a log of version 0.1.0 is returned as one of this version, and left as it is.
-- Returns the entries of the log, when it expires (ms, 0 for never), the time of the next check or nil, and the entry
-- in the lobby or nil.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left = redis.call('PTTL', KEYS[1])
local expires = left >= 0 and now + left or 0
local old = redis.call('TYPE', KEYS[1]).ok == 'stream' and old_entries(KEYS[1])
return {
  old or redis.call('LRANGE', KEYS[1], 0, -1), string.format('%.0f', expires),
  redis.call('ZSCORE', KEYS[2], ARGV[1]), redis.call('HGET', KEYS[3], ARGV[1])
}
