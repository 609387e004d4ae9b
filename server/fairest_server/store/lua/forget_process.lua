-- Forget a process that has been silent for too long, and the rooms that it held; unless it has beaten again.
--
-- KEYS  processes alive, rooms of this process
-- ARGV  process id, silence after which a process has lapsed (ms)
-- Returns 1 if it is forgotten.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local beat = redis.call('ZSCORE', KEYS[1], ARGV[1])
if beat and now - tonumber(beat) < tonumber(ARGV[2]) then
  return 0
end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
return 1
