-- Take off a board the players whose last day on it is over.
--
-- KEYS  board of a variant, last days of its members
-- ARGV  today, how many to take at most
-- Returns how many were taken off.
local faded = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[2])
for _, player in ipairs(faded) do
  redis.call('ZREM', KEYS[1], player)
  redis.call('ZREM', KEYS[2], player)
end
return #faded
