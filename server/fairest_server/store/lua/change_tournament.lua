-- Change a tournament, if it has the version that the caller knows; start the races of its players if they are given.
--
-- KEYS  tournament, tournaments that are not over, outbox of rounds, races under way, tournaments that have ended
-- ARGV  version before (0: it is new), version after, text, code, whether it is over (0 or 1), not after (ms), how long
--       it is kept (s), start of its races (ms), number of entries for the chain of rounds, these entries, players whose
--       races start
-- Returns made; conflict, with another version than the caller knows; slow, after `not after`.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now > tonumber(ARGV[6]) then
  return 'slow'
end
if (redis.call('HGET', KEYS[1], 'version') or '0') ~= ARGV[1] then
  return 'conflict'
end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'text', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[7])
if ARGV[5] == '1' then
  redis.call('ZREM', KEYS[2], ARGV[4])
  redis.call('ZADD', KEYS[5], 'NX', now, ARGV[4])
  -- The newest thirty, as MOST_ENDED in tournaments.py.
  redis.call('ZREMRANGEBYRANK', KEYS[5], 0, -31)
  redis.call('EXPIRE', KEYS[5], ARGV[7])
elseif ARGV[1] == '0' then
  redis.call('ZADD', KEYS[2], now, ARGV[4])
end
local first_player = 10 + tonumber(ARGV[9])
for place = 10, first_player - 1 do
  redis.call('XADD', KEYS[3], '*', 'e', ARGV[place])
end
for place = first_player, #ARGV do
  redis.call('ZADD', KEYS[4], ARGV[8], ARGV[place])
  redis.call('EXPIRE', KEYS[4], ARGV[7])
end
return 'made'
