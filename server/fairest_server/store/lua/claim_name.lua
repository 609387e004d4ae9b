-- Reserve a name for a player, unless another player has it.
--
-- KEYS  name
-- ARGV  player id, how long from now on (s)
-- Returns 1 if the name is this player's now, 0 if it is another player's.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
