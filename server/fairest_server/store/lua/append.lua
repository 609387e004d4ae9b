-- The only write to a room: append events to its log if the log's last entry is the expected one.
-- Checks come first, writes after: Redis does not roll back a script that fails half-way.
--
-- Each argument costs Redis a hundredth of an append, and each number that is formatted up to three. So ids come ready
-- made, times stay texts, and what a move seldom needs stands at the end and may be left out: all from the channel on, or
-- from the room on.
--
-- KEYS  log; with a room, deadlines of the bucket; lobby of the bucket if the room's entry in it changes; outbox of the
--       bucket's rounds if there are entries for the chain of rounds
-- ARGV  id of the expected last entry ('0-0' for an empty log), its tag ('' for an empty log), new tag, not before (ms),
--       not after (ms, 0 for any time), number of events; the id and the text of each event;
--       wake-up channel ('' for none), the sender's own subscriptions to that channel;
--       room, next check (ms, 0 for never, '' to leave it), log expires (s, 0 for never), entry in the lobby ('' to
--       remove it), number of entries for the chain of rounds, those entries ...
-- A line before this one names the commands for channels: local publish, count = 'PUBLISH', 'NUMSUB', or 'SPUBLISH' and
-- 'SHARDNUMSUB' on a Cluster whose version has them. On an older Cluster there is no count: a node knows its own
-- subscribers only, and passes messages on to those of others.
-- Returns the stamp of the events in ms if they are appended. Otherwise a result and Redis' clock in ms: early, late;
-- conflict, with the entries from the expected last one on.
local expected, tag, new_tag = ARGV[1], ARGV[2], ARGV[3]
local not_before, not_after, events = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local last_event = 5 + 2 * events
local channel, room = ARGV[last_event + 2] or '', ARGV[last_event + 4]

-- Redis' clock in ms: the seconds, and the microseconds without their last three digits, filled up to three.
local time = redis.call('TIME')
local now_text = time[1] .. string.sub('000' .. string.sub(time[2], 1, -4), -3)
local now = tonumber(now_text)
local last_id, last_tag, stamp = '0-0', '', now_text
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', '1')[1]
if last then
  last_id, last_tag = last[1], last[2][4]
  if tonumber(last[2][2]) > now then
    stamp = last[2][2]
  end
end

-- The log ends with this very append: its reply was lost, and the sender sent it again. Reply as the first time.
if last_tag == new_tag and last_id == ARGV[last_event] then
  return last[2][2]
end
if last_id ~= expected or last_tag ~= tag then
  return {'conflict', now_text, redis.call('XRANGE', KEYS[1], expected, '+')}
end
if now < not_before then
  return {'early', now_text}
end
if not_after > 0 and now > not_after then
  return {'late', now_text}
end

-- A wake-up that nobody but its sender would hear is not published: to read it again costs the sender a third of a move.
if channel ~= '' and count and redis.call('PUBSUB', count, channel)[2] <= tonumber(ARGV[last_event + 3]) then
  channel = ''
end
-- Encoding may fail, so it comes before the first write.
local message = ''
if channel ~= '' then
  local texts = {}
  for place = 7, last_event, 2 do
    texts[#texts + 1] = ARGV[place + 1]
  end
  message = cjson.encode({tonumber(string.match(ARGV[7], '^%d+')), last_tag, new_tag, stamp, texts})
end
for place = 7, last_event, 2 do
  redis.call('XADD', KEYS[1], ARGV[place], 't', stamp, 'g', new_tag, 'e', ARGV[place + 1])
end
if room then
  local next_check, expires, listing = ARGV[last_event + 5], ARGV[last_event + 6], ARGV[last_event + 7]
  local rounds = tonumber(ARGV[last_event + 8])
  local lobby, outbox = KEYS[3], nil
  if rounds > 0 then
    lobby, outbox = #KEYS == 4 and KEYS[3] or nil, KEYS[#KEYS]
  end
  if next_check == '0' then
    redis.call('ZREM', KEYS[2], room)
  elseif next_check ~= '' then
    redis.call('ZADD', KEYS[2], next_check, room)
  end
  if expires ~= '0' then
    redis.call('EXPIRE', KEYS[1], expires)
  end
  if lobby and listing ~= '' then
    redis.call('HSET', lobby, room, listing)
  elseif lobby then
    redis.call('HDEL', lobby, room)
  end
  for number = 1, rounds do
    redis.call('XADD', outbox, '*', 'e', ARGV[last_event + 8 + number])
  end
end
if channel ~= '' then
  redis.call(publish, channel, message)
end
return stamp
