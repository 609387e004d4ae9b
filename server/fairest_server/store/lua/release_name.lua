-- Release a name, unless another player has it by now: it is free, and still says who had it.
--
-- KEYS  name
-- ARGV  player id, how long it says so (s), the mark of a name that was given up
-- Returns 1 if the name was released, 0 if it was not this player's.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[3] .. ARGV[1], 'EX', ARGV[2])
  return 1
end
return 0
