-- Extend the chain of rounds, if it still ends where the sender read it.
--
-- KEYS  chain, entries of the outboxes that the chain has
-- ARGV  number and chain of the newest entry ('' for an empty chain), number of the oldest entry to keep, time (ms); then
--       for each entry its chain, its mark ('' for none) and its line
-- Returns 1, or 0 if the chain ends otherwise.
local number, chain = 0, ''
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  number, chain = tonumber(string.match(last[1], '^%d+')), last[2][2]
end
if number ~= tonumber(ARGV[1]) or chain ~= ARGV[2] then
  return 0
end
for place = 5, #ARGV, 3 do
  number = number + 1
  redis.call('XADD', KEYS[1], string.format('%d-0', number), 'c', ARGV[place], 'e', ARGV[place + 2])
  if ARGV[place + 1] ~= '' then
    redis.call('HSET', KEYS[2], ARGV[place + 1], ARGV[4])
  end
end
redis.call('XTRIM', KEYS[1], 'MINID', ARGV[3] .. '-0')
return 1
