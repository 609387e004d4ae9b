-- The only write to rooms: append events to their logs, to each if the log's last entry is the expected one.
-- Of each append, checks come first, writes after: Redis does not roll back a script that fails half-way. Appends that
-- were made before it failed are answered as the first time when they are sent again.
--
-- Each script costs Redis a fifth of an append, each entry another, each argument a hundredth, and each number that is
-- formatted up to three. So the appends of a batch share scripts, all events of an append share an entry, ids come ready
-- made, times stay texts, nothing is a function, and what a move seldom needs stands at the end, for the last append
-- alone, and may be left out: all from the channel on, or from the room on.
--
-- An entry has the id of its last event, and a field for each event, whose value is the event's text. The name of the
-- first field is the stamp in 13 digits, as it has them until the year 2286, and behind it the tag; that of the others is
-- empty.
-- Entries of version 0.1.0 have one event, and the fields t (stamp), g (tag) and e (event).
--
-- KEYS  log of each append; with a room, deadlines of the bucket; lobby of the bucket if the room's entry in it changes;
--       outbox of the bucket's rounds if there are entries for the chain of rounds
-- ARGV  number of appends; of each append:
--         id of the expected last entry ('0-0' for an empty log), its tag ('' for an empty log), new id, new tag, not
--         before (ms), not after (ms, 0 for any time); number of words of the events, those words: the text of each
--         event, with '' between two;
--       of the last append:
--         wake-up channel ('' for none), the sender's own subscriptions to that channel;
--         room, next check (ms, 0 for never, '' to leave it), log expires (s, 0 for never), entry in the lobby ('' to
--         remove it), number of entries for the chain of rounds, those entries ...
-- A line before this one names the commands for channels: local publish, count = 'PUBLISH', 'NUMSUB', or 'SPUBLISH' and
-- 'SHARDNUMSUB' on a Cluster whose version has them. On an older Cluster there is no count: a node knows its own
-- subscribers only, and passes messages on to those of others.
-- Returns the stamps in ms of what is appended, with spaces between them. If an append is not made, a list with a result
-- for each: its stamp, or a word and Redis' clock in ms: early, late; conflict, with the entries from the expected last
-- one on.
local call = redis.call
local appends = tonumber(ARGV[1])
-- Redis' clock in ms: the seconds, and the microseconds filled up to six digits, without their last three.
local time = call('TIME')
local now_text = time[1] .. string.sub('00000' .. time[2], -6, -4)
local now = tonumber(now_text)

local results, is_refused = {}, false
-- The place of an append's first argument, and of the first one behind it.
local first, after = 2, 2
for number = 1, appends do
  first, after = after, after + 7 + tonumber(ARGV[after + 6])
  local log, new_id, new_tag = KEYS[number], ARGV[first + 2], ARGV[first + 3]
  local not_before, not_after = tonumber(ARGV[first + 4]), tonumber(ARGV[first + 5])
  local last_id, last_tag, last_stamp, stamp = '0-0', '', '0', now_text
  local last = call('XREVRANGE', log, '+', '-', 'COUNT', '1')[1]
  if last then
    local fields = last[2]
    last_id = last[1]
    if fields[1] == 't' then
      last_tag, last_stamp = fields[4], fields[2]
    else
      last_tag, last_stamp = string.sub(fields[1], 14), string.sub(fields[1], 1, 13)
    end
    if tonumber(last_stamp) > now then
      stamp = last_stamp
    end
  end
  if #stamp < 13 then
    -- By a clock before 2001, as of a machine that starts without one.
    stamp = string.rep('0', 13 - #stamp) .. stamp
  end

  if last_tag == new_tag and last_id == new_id then
    -- The log ends with this very append: its reply was lost, and the sender sent it again. Reply as the first time.
    results[number] = last_stamp
  elseif last_id ~= ARGV[first] or last_tag ~= ARGV[first + 1] then
    results[number], is_refused = {'conflict', now_text, call('XRANGE', log, ARGV[first], '+')}, true
  elseif now < not_before then
    results[number], is_refused = {'early', now_text}, true
  elseif not_after > 0 and now > not_after then
    results[number], is_refused = {'late', now_text}, true
  else
    local channel, room = '', nil
    if number == appends then
      channel, room = ARGV[after] or '', ARGV[after + 2]
    end
    -- A wake-up that nobody but its sender would hear is not published: to read it again costs the sender a third of a
    -- move.
    if channel ~= '' and count and call('PUBSUB', count, channel)[2] <= tonumber(ARGV[after + 1]) then
      channel = ''
    end
    -- Encoding may fail, so it comes before the first write.
    local message = ''
    if channel ~= '' then
      local texts = {}
      for place = first + 7, after - 1, 2 do
        texts[#texts + 1] = ARGV[place]
      end
      local first_index = tonumber(string.match(new_id, '^%d+')) - #texts + 1
      message = cjson.encode({first_index, last_tag, new_tag, stamp, texts})
    end
    call('XADD', log, new_id, stamp .. new_tag, unpack(ARGV, first + 7, after - 1))
    if room then
      local next_check, expires, listing = ARGV[after + 3], ARGV[after + 4], ARGV[after + 5]
      local rounds = tonumber(ARGV[after + 6])
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
        call('XADD', outbox, '*', 'e', ARGV[after + 6 + place])
      end
    end
    if channel ~= '' then
      call(publish, channel, message)
    end
    results[number] = stamp
  end
end
return is_refused and results or table.concat(results, ' ')
