-- Keep what the rounds of a match change, unless they were rated before, or a tally or the pair has changed meanwhile.
-- Checks come first, writes after: Redis does not roll back a script that fails half-way.
--
-- KEYS  results, marks of rated matches, board of the variant, last days of its members, tallies of both players, scores
--       of the pair, names of both players
-- ARGV  variant, match, day on which the match finished, days for which a mark is kept, number of results kept, how long
--       tallies are kept (s); the ids of both players; both tallies and the score of the pair as they were ('' for none);
--       both tallies and the score as they are now; for each player its mean, and the last day on which it stands on the
--       board (-1 if it does not)
-- Returns 'rated'; 'known' if the match was rated before; 'late' if that is not known any more; 'changed'.
local variant, match, day = ARGV[1], ARGV[2], tonumber(ARGV[3])
local oldest = math.floor(redis.call('TIME')[1] / 86400) - tonumber(ARGV[4])

if redis.call('ZSCORE', KEYS[2], match) then
  return 'known'
end
if day < oldest then
  return 'late'
end
for place = 1, 3 do
  if (redis.call('HGET', KEYS[4 + place], variant) or '') ~= ARGV[8 + place] then
    return 'changed'
  end
end

local number = 1
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  number = tonumber(string.match(last[1], '^%d+')) + 1
end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[5], string.format('%d-0', number), 'm', match, 'v', variant,
  'p', ARGV[7] .. ' ' .. ARGV[8], '0', ARGV[12], '1', ARGV[13], 's', ARGV[14])
redis.call('ZADD', KEYS[2], day, match)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('(%d', oldest))
for place = 1, 3 do
  redis.call('HSET', KEYS[4 + place], variant, ARGV[11 + place])
  redis.call('EXPIRE', KEYS[4 + place], ARGV[6])
end
for seat = 1, 2 do
  local player, mean, until_day = ARGV[6 + seat], ARGV[13 + 2 * seat], ARGV[14 + 2 * seat]
  redis.call('SET', KEYS[7 + seat], player, 'EX', ARGV[6])
  if until_day == '-1' then
    redis.call('ZREM', KEYS[3], player)
    redis.call('ZREM', KEYS[4], player)
  else
    redis.call('ZADD', KEYS[3], mean, player)
    redis.call('ZADD', KEYS[4], until_day, player)
  end
end
return 'rated'
