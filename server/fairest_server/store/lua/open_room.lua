-- Count a room that a player opens, unless it has opened this one before, or too many.
--
-- KEYS  number of rooms that the player has opened; the room of its key if it gave one
-- ARGV  code of the room, most rooms, how long both keys are kept (s)
-- Returns the code of the room that the player opens, or has opened with this key before; nil if it has opened too many.
local known = #KEYS == 2 and redis.call('GET', KEYS[2])
if known then
  return known
end
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[2]) then
  return false
end
if redis.call('INCR', KEYS[1]) == 1 then
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
if #KEYS == 2 then
  redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[3])
end
return ARGV[1]
