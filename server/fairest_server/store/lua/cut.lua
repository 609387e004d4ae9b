-- Append a checkpoint to a room's log if the log ends as expected, and remove the entries that it stands for. Checks come
-- first, writes after: Redis does not roll back a script that fails half-way.
--
-- KEYS  log
-- ARGV  expected end of the log, index and tag of the checkpoint, the checkpoint, how many events before it to keep
-- A line before this one names the command that publishes: local publish = 'PUBLISH', or 'SPUBLISH' (append.lua).
-- Returns the stamp of the checkpoint in ms; '' if the log does not end as expected. append.lua says what an entry is.
local expected_end, index, tag, event = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local kept = tonumber(ARGV[5])
local new_end = index .. ' ' .. tag .. '\n'

local last = redis.call('LINDEX', KEYS[1], -1)
if not last then
  return ''
end
local last_stamp, last_end = string.sub(last, 1, 13), string.match(last, '[^\n]*\n?', 15)
-- The log ends with this very checkpoint: the reply was lost, and the sender sent it again. Reply as the first time.
if last_end == new_end then
  return last_stamp
end
if last_end ~= expected_end then
  return ''
end

-- Each entry holds an event or more, so those to keep are among the last of as many entries.
local first_kept, entries = tonumber(index) - kept, 0
for _, entry in ipairs(redis.call('LRANGE', KEYS[1], -kept, -1)) do
  if (tonumber(string.match(entry, '^%d+', 15)) or 0) >= first_kept then
    entries = entries + 1
  end
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stamp = string.format('%013.0f', math.max(now, tonumber(last_stamp)))
local entry = stamp .. ' ' .. new_end .. event
redis.call('RPUSH', KEYS[1], entry)
redis.call('LTRIM', KEYS[1], -entries - 1, -1)
redis.call(publish, KEYS[1], expected_end .. entry)
return stamp
