-- The only write to rooms: append events to their logs, to each if the log's last entry is the expected one.
-- Of each append, checks come first, writes after: Redis does not roll back a script that fails half-way. Appends that
-- were made before it failed are answered as the first time when they are sent again.
--
-- An argument takes Redis 1,000 instructions, a number that is formatted up to 3,000, and a script 17,000, which its
-- appends share. So the appends of a batch share scripts, what an append writes is one text, times stay texts, and
-- nothing is a function. What a move seldom needs stands at the end, for the last append alone, and may be left out.
--
-- A log is a list, and each of its entries an append: the stamp in 13 digits, as it has them until the year 2286, a space,
-- the end of the log by then, and the events, with a line feed between two. The end of a log is the index of its last
-- event, a space, the tag of its last append, and a line feed: '57 1a2b3c4d\n', and '0 \n' for an empty log.
--
-- The channel of a room has the name of its log. What is published is the end of the log before, and the entry.
--
-- KEYS  log of each append; with a room, deadlines of the bucket; lobby of the bucket if the room's entry in it changes;
--       outbox of the bucket's rounds if there are entries for the chain of rounds
-- ARGV  number of appends; how many of the subscriptions to each of their channels are the sender's own, '' to publish
--       nothing; of each append:
--         expected end of the log, new end and events, not after (ms, 0 for any time);
--       of the last append:
--         room, not before (ms), next check (ms, 0 for never, '' to leave it), log expires (s, 0 for never), entry in the
--         lobby ('' to remove it), number of entries for the chain of rounds, those entries ...
-- A line before this one names the commands for channels: local publish, count = 'PUBLISH', 'NUMSUB', or 'SPUBLISH' and
-- 'SHARDNUMSUB' on a Cluster whose version has them. On an older Cluster there is no count: a node knows its own
-- subscribers only, and passes messages on to those of others.
-- Returns the stamps in ms of what is appended, with spaces between them. If an append is not made, a list with a result
-- for each: its stamp, or a word and Redis' clock in ms: early, late; conflict, with all entries from the one that
-- holds the expected last event.
local call, sub = redis.call, string.sub
local appends, own = tonumber(ARGV[1]), tonumber(ARGV[2])
-- Redis' clock in ms: the seconds, and the microseconds filled up to six digits, without their last three.
local time = call('TIME')
local now_text = time[1] .. sub('00000' .. time[2], -6, -4)
local now = tonumber(now_text)
if now < 1e12 then
  -- A clock before 2001, as of a machine that starts without one.
  now_text = string.rep('0', 13 - #now_text) .. now_text
end
-- A wake-up that nobody but its sender would hear is not published: to read it again costs the sender a third of a move.
-- The reply has the name and the count of each channel.
local subscriptions = own and count and call('PUBSUB', count, unpack(KEYS, 1, appends))

local results, is_refused = {}, false
local more = 3 + 3 * appends
for number = 1, appends do
  local first = 3 * number
  local log, expected_end, written, not_after = KEYS[number], ARGV[first], ARGV[first + 1], ARGV[first + 2]
  local room = number == appends and ARGV[more]
  local last = call('LINDEX', log, '-1') or '0000000000000 0 \n'

  local is_expected = sub(last, 15, 14 + #expected_end) == expected_end
  if not is_expected and sub(last, 15) == written then
    -- The log ends with this very append: its reply was lost, and the sender sent it again. Reply as the first time.
    results[number] = sub(last, 1, 13)
  elseif not is_expected then
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
  elseif room and now < tonumber(ARGV[more + 1]) then
    results[number], is_refused = {'early', now_text}, true
  elseif not_after ~= '0' and now > tonumber(not_after) then
    results[number], is_refused = {'late', now_text}, true
  else
    local stamp = sub(last, 1, 13)
    -- Texts of 13 digits sort as their numbers do.
    if stamp < now_text then
      stamp = now_text
    end
    local entry = stamp .. ' ' .. written
    call('RPUSH', log, entry)
    if room then
      local next_check, expires, listing = ARGV[more + 2], ARGV[more + 3], ARGV[more + 4]
      local rounds = tonumber(ARGV[more + 5])
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
        call('XADD', outbox, '*', 'e', ARGV[more + 5 + place])
      end
    end
    if own and (not subscriptions or subscriptions[2 * number] > own) then
      call(publish, log, expected_end .. entry)
    end
    results[number] = stamp
  end
end
return is_refused and results or table.concat(results, ' ')
