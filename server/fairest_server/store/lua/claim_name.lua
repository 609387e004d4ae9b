-- Reserve a name for a player, unless another player has it. One that its player has given up is free.
--
-- KEYS  name
-- ARGV  player id, how long from now on (s), the mark of a name that was given up
-- Returns 1 if the name is this player's now, 0 if it is another player's.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and string.sub(holder, 1, #ARGV[3]) ~= ARGV[3] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
