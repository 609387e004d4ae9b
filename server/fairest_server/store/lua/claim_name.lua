-- Use a name for so long from now on, unless it is another player's.
--
-- KEYS  name
-- ARGV  player id, seconds
-- Returns 1 if it is this player's, 0 if it is another's.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
