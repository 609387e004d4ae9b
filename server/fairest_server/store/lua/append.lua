-- The only write to rooms: append events to their logs, to each if the log's last entry is the expected one.
-- Of each append, checks come first, writes after: Redis does not roll back a script that fails half-way. Appends that
-- were made before it failed are answered as the first time when they are sent again.
--
-- An append in a batch takes Redis 40,000 instructions: 1,000 for each argument, up to 3,000 for a number that is
-- formatted. A script takes 17,000 more, which its appends share. So the appends of a batch share scripts, ends of logs
-- come ready made, times stay texts, and nothing is a function. Channels stand in scripts of their own, and what a move
-- seldom needs stands at the end, for the last append alone, and may be left out.
--
-- A log is a list, and each of its entries an append: the stamp in 13 digits, as it has them until the year 2286, a space,
-- the end of the log by then, and the events, with a line feed between two. The end of a log is the index of its last
-- event, a space, the tag of its last append, and a line feed: '57 1a2b3c4d\n', and '0 \n' for an empty log.
--
-- KEYS  log of each append; with a room, deadlines of the bucket; lobby of the bucket if the room's entry in it changes;
--       outbox of the bucket's rounds if there are entries for the chain of rounds
-- ARGV  number of appends, 2 if each has a wake-up channel, else 0; of each append:
--         expected end of the log, new end, not before (ms), not after (ms, 0 for any time); number of events, the text
--         of each; with channels, its channel and the sender's own subscriptions to it;
--       of the last append:
--         room, next check (ms, 0 for never, '' to leave it), log expires (s, 0 for never), entry in the lobby ('' to
--         remove it), number of entries for the chain of rounds, those entries ...
-- A line before this one names the commands for channels: local publish, count = 'PUBLISH', 'NUMSUB', or 'SPUBLISH' and
-- 'SHARDNUMSUB' on a Cluster whose version has them. On an older Cluster there is no count: a node knows its own
-- subscribers only, and passes messages on to those of others.
-- Returns the stamps in ms of what is appended, with spaces between them. If an append is not made, a list with a result
-- for each: its stamp, or a word and Redis' clock in ms: early, late; conflict, with all entries from the one that
-- holds the expected last event.
local call, sub = redis.call, string.sub
local appends, channel_words = tonumber(ARGV[1]), tonumber(ARGV[2])
-- Redis' clock in ms: the seconds, and the microseconds filled up to six digits, without their last three.
local time = call('TIME')
local now_text = time[1] .. sub('00000' .. time[2], -6, -4)
local now = tonumber(now_text)
if now < 1e12 then
  -- A clock before 2001, as of a machine that starts without one.
  now_text = string.rep('0', 13 - #now_text) .. now_text
end

local results, is_refused = {}, false
-- The place behind an append's arguments.
local after = 3
for number = 1, appends do
  local first = after
  local last_event = first + 4 + tonumber(ARGV[first + 4])
  after = last_event + 1 + channel_words
  local log, expected_end, new_end = KEYS[number], ARGV[first], ARGV[first + 1]
  local not_before, not_after = ARGV[first + 2], ARGV[first + 3]
  local last = call('LINDEX', log, '-1') or '0000000000000 0 \n'
  local last_stamp, stamp = sub(last, 1, 13), now_text
  -- Texts of 13 digits sort as their numbers do.
  if last_stamp > now_text then
    stamp = last_stamp
  end

  if sub(last, 15, 14 + #new_end) == new_end then
    -- The log ends with this very append: its reply was lost, and the sender sent it again. Reply as the first time.
    results[number] = last_stamp
  elseif sub(last, 15, 14 + #expected_end) ~= expected_end then
    -- As many entries as there are events may be too many, since an entry holds an event or more. Entries that cannot be
    -- read are returned too: the sender reports them.
    local index, entries = tonumber(string.match(expected_end, '^%d+')), {}
    local behind = math.max(0, (tonumber(string.match(last, '^%d+', 15)) or index) - index)
    for _, entry in ipairs(call('LRANGE', log, -1 - behind, -1)) do
      if (tonumber(string.match(entry, '^%d+', 15)) or index) >= index then
        entries[#entries + 1] = entry
      end
    end
    results[number], is_refused = {'conflict', now_text, entries}, true
  elseif not_before ~= '0' and now < tonumber(not_before) then
    results[number], is_refused = {'early', now_text}, true
  elseif not_after ~= '0' and now > tonumber(not_after) then
    results[number], is_refused = {'late', now_text}, true
  else
    local channel = channel_words == 2 and ARGV[last_event + 1]
    -- A wake-up that nobody but its sender would hear is not published: to read it again costs the sender a third of a
    -- move.
    if channel and count and call('PUBSUB', count, channel)[2] <= tonumber(ARGV[last_event + 2]) then
      channel = nil
    end
    -- Encoding may fail, so it comes before the first write.
    local message
    if channel then
      local texts = {unpack(ARGV, first + 5, last_event)}
      local last_index, new_tag = string.match(new_end, '^(%d+) (.*)\n')
      local last_tag = string.match(last, ' ([^\n]*)', 15)
      message = cjson.encode({tonumber(last_index) - #texts + 1, last_tag, new_tag, stamp, texts})
    end
    call('RPUSH', log, stamp .. ' ' .. new_end .. table.concat(ARGV, '\n', first + 5, last_event))
    local room = number == appends and ARGV[after]
    if room then
      local next_check, expires, listing = ARGV[after + 1], ARGV[after + 2], ARGV[after + 3]
      local rounds = tonumber(ARGV[after + 4])
      local deadlines, lobby, outbox = KEYS[appends + 1], KEYS[appends + 2], nil
      if rounds > 0 then
        lobby, outbox = #KEYS == appends + 3 and lobby or nil, KEYS[#KEYS]
      end
      if next_check == '0' then
        call('ZREM', deadlines, room)
      elseif next_check ~= '' then
        call('ZADD', deadlines, next_check, room)
      end
      if expires ~= '0' then
        call('EXPIRE', log, expires)
      end
      if lobby and listing ~= '' then
        call('HSET', lobby, room, listing)
      elseif lobby then
        call('HDEL', lobby, room)
      end
      for place = 1, rounds do
        call('XADD', outbox, '*', 'e', ARGV[after + 4 + place])
      end
    end
    if channel then
      call(publish, channel, message)
    end
    results[number] = stamp
  end
end
return is_refused and results or table.concat(results, ' ')
