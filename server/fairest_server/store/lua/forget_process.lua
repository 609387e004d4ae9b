-- Forget a lapsed process and its rooms, unless it has sent a heartbeat since.
--
-- KEYS  processes by last heartbeat, rooms of this process
-- ARGV  process id, time without a heartbeat after which a process has lapsed (ms)
-- Returns 1 if the process was forgotten, 0 if it is alive.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local heartbeat = redis.call('ZSCORE', KEYS[1], ARGV[1])
if heartbeat and now - tonumber(heartbeat) < tonumber(ARGV[2]) then
  return 0
end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
return 1
