-- Do something to a process, if it has lapsed by now: it may have sent a heartbeat since it was found to have lapsed.
--
-- KEYS  processes by last heartbeat, last heartbeat of any process, rooms of this process
-- ARGV  process id, time after which a process has lapsed (ms), 'look', 'release' or 'forget'; the rooms to release
-- Returns 1 if the process has lapsed, or was forgotten, and it is done; 0 if the process is alive.
-- Its last heartbeat is compared with the newest of any process, and not with the clock: after a silence of Redis, this
-- may run before the first heartbeat does.
local newest = tonumber(redis.call('GET', KEYS[2]) or '0')
local heartbeat = redis.call('ZSCORE', KEYS[1], ARGV[1])
if heartbeat and newest - tonumber(heartbeat) < tonumber(ARGV[2]) then
  return 0
end
if ARGV[3] == 'release' then
  redis.call('SREM', KEYS[3], unpack(ARGV, 4))
elseif ARGV[3] == 'forget' then
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('DEL', KEYS[3])
end
return 1
