-- The end of the chain of rounds, and whether this process extends it.
--
-- KEYS  chain, writer
-- ARGV  process id, how long the writer stays writer (s), number of an entry that this process knows (0 for none)
-- Returns Redis' clock in ms, number and chain of the newest entry, the number of the oldest one that is kept, 1 if this
-- process is the writer, else 0, and the chain of the known entry ('' if it is not there).
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local number, chain, oldest = 0, '', 0
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  number, chain = tonumber(string.match(last[1], '^%d+')), last[2][2]
  oldest = tonumber(string.match(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1][1], '^%d+'))
end
local known = redis.call('XRANGE', KEYS[1], ARGV[3] .. '-0', ARGV[3] .. '-0')[1]
local is_writer = 0
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'EX', ARGV[2]) then
  is_writer = 1
elseif redis.call('GET', KEYS[2]) == ARGV[1] then
  redis.call('EXPIRE', KEYS[2], ARGV[2])
  is_writer = 1
end
return {string.format('%.0f', now), number, chain, oldest, is_writer, known and known[2][2] or ''}
