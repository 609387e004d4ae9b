-- The only write to a room: append events to its log if the log's last entry is the expected one.
-- Checks come first, writes after: Redis does not roll back a script that fails half-way.
--
-- KEYS  log, deadlines of the bucket; lobby of the bucket if the room's entry in it changes; outbox of the bucket's
--       rounds if there are entries for the chain of rounds
-- ARGV  room, expected last index, expected tag, new tag, not before (ms), not after (ms, 0 for any time),
--       next check (ms, 0 for never, '' to leave it), log expires (s, 0 for never), wake-up channel ('' for none),
--       the sender's own subscriptions to that channel, entry in the lobby ('' to remove it), number of entries for the
--       chain of rounds, those entries ..., events ...
-- A line before this one names the commands for channels: local publish, count = 'PUBLISH', 'NUMSUB', or 'SPUBLISH' and
-- 'SHARDNUMSUB' on a Cluster whose version has them. On an older Cluster there is no count: a node knows its own
-- subscribers only, and passes messages on to those of others.
-- Returns a result and Redis' clock in ms: appended (with the stamp of the events), early, late; conflict, with the
-- entries from the expected last one on.
local room, expected, tag, new_tag = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local not_before, not_after = tonumber(ARGV[5]), tonumber(ARGV[6])
local next_check, expires, channel = ARGV[7], ARGV[8], ARGV[9]
local rounds = tonumber(ARGV[12])
local first_event, events = 13 + rounds, #ARGV - 12 - rounds
local lobby, outbox = KEYS[3], nil
if rounds > 0 then
  lobby, outbox = #KEYS == 4 and KEYS[3] or nil, KEYS[#KEYS]
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local index, last_tag, last_stamp = 0, '', 0
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  index = tonumber(string.match(last[1], '^%d+'))
  last_stamp, last_tag = tonumber(last[2][2]), last[2][4]
end

-- The log ends with this very append: its reply was lost, and the sender sent it again. Reply as the first time.
if last_tag == new_tag and index == expected + events then
  return {'appended', string.format('%.0f', last_stamp)}
end
if index ~= expected or last_tag ~= tag then
  return {'conflict', string.format('%.0f', now), redis.call('XRANGE', KEYS[1], string.format('%d-0', expected), '+')}
end
if now < not_before then
  return {'early', string.format('%.0f', now)}
end
if not_after > 0 and now > not_after then
  return {'late', string.format('%.0f', now)}
end

-- A wake-up that nobody but its sender would hear is not published: to read it again costs the sender a third of a move.
if channel ~= '' and count and redis.call('PUBSUB', count, channel)[2] <= tonumber(ARGV[10]) then
  channel = ''
end
-- Encoding may fail, so it comes before the first write.
local message = ''
local stamp = string.format('%.0f', math.max(now, last_stamp))
if channel ~= '' then
  message = cjson.encode({index + 1, last_tag, new_tag, stamp, {unpack(ARGV, first_event)}})
end
for offset = 1, events do
  local id = string.format('%d-0', index + offset)
  redis.call('XADD', KEYS[1], id, 't', stamp, 'g', new_tag, 'e', ARGV[first_event + offset - 1])
end
if next_check == '0' then
  redis.call('ZREM', KEYS[2], room)
elseif next_check ~= '' then
  redis.call('ZADD', KEYS[2], next_check, room)
end
if expires ~= '0' then
  redis.call('EXPIRE', KEYS[1], expires)
end
if lobby and ARGV[11] ~= '' then
  redis.call('HSET', lobby, room, ARGV[11])
elseif lobby then
  redis.call('HDEL', lobby, room)
end
for number = 1, rounds do
  redis.call('XADD', outbox, '*', 'e', ARGV[12 + number])
end
if channel ~= '' then
  redis.call(publish, channel, message)
end
return {'appended', stamp}
