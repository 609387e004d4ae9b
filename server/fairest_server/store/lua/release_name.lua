-- Release a name, unless another player has it by now.
--
-- KEYS  name
-- ARGV  player id
-- Returns 1 if the name was released, 0 if it was not this player's.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
