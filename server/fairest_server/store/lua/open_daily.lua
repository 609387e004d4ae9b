-- Open a daily deal whose day is over, once no attempt at it is under way.
--
-- KEYS  deal, attempts under way, deals that are not opened, outbox of rounds
-- ARGV  member of the deals that are not opened, end of the day (ms), entry for the chain of rounds
-- Returns whether it is opened.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now < tonumber(ARGV[2]) or redis.call('ZCARD', KEYS[2]) > 0 then
  return 0
end
if redis.call('HSETNX', KEYS[1], 'opened', '1') == 1 then
  redis.call('XADD', KEYS[4], '*', 'e', ARGV[3])
end
redis.call('SREM', KEYS[3], ARGV[1])
return 1
