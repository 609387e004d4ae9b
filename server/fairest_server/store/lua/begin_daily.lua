-- Begin the only attempt of a player at a daily deal.
--
-- KEYS  deal, attempts, attempts under way, addresses, the attempt by its id
-- ARGV  player, text of the attempt without its start, address, end of the day (ms), not after (ms), how long attempts
--       are kept (s), text by which the attempt is found
-- Returns the text of the player's attempt, behind its start in ms; 'late' after `not after`; nothing if none may begin.
local known = redis.call('HGET', KEYS[2], ARGV[1])
if known then
  return known
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local beacon = redis.call('HEXISTS', KEYS[1], 'drand') == 1 and 'drand_round' or 'beacon'
if now >= tonumber(ARGV[4]) or redis.call('HEXISTS', KEYS[1], beacon) == 0
    or redis.call('HEXISTS', KEYS[1], 'opened') == 1 then
  return false
end
if now > tonumber(ARGV[5]) then
  return 'late'
end
local begun = string.format('%.0f', now) .. ' ' .. ARGV[2]
redis.call('HSET', KEYS[2], ARGV[1], begun)
redis.call('ZADD', KEYS[3], now, ARGV[1])
redis.call('HINCRBY', KEYS[4], ARGV[3], 1)
redis.call('SET', KEYS[5], ARGV[7], 'EX', ARGV[6])
for place = 2, 4 do
  redis.call('EXPIRE', KEYS[place], ARGV[6])
end
return begun
