-- Append a checkpoint to a room's log if the log's last entry is the expected one, and remove the entries that it stands
-- for. Checks come first, writes after: Redis does not roll back a script that fails half-way.
--
-- KEYS  log
-- ARGV  expected last index, expected tag, new tag, the checkpoint, how many entries before it to keep,
--       wake-up channel
-- A line before this one names the command that publishes: local publish = 'PUBLISH', or 'SPUBLISH' (append.lua).
-- Returns the stamp of the checkpoint in ms; '' if the log does not end as expected. append.lua says what an entry is.
local expected, tag, new_tag, event = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local kept, channel = tonumber(ARGV[5]), ARGV[6]

local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not last then
  return ''
end
local index, fields = tonumber(string.match(last[1], '^%d+')), last[2]
local last_tag, last_stamp = string.sub(fields[1], 14), tonumber(string.sub(fields[1], 1, 13))
if fields[1] == 't' then
  last_tag, last_stamp = fields[4], tonumber(fields[2])
end
-- The log ends with this very checkpoint: the reply was lost, and the sender sent it again. Reply as the first time.
if last_tag == new_tag and index == expected + 1 then
  return string.format('%.0f', last_stamp)
end
if index ~= expected or last_tag ~= tag then
  return ''
end

local time = redis.call('TIME')
local stamp = string.format('%013.0f', math.max(time[1] * 1000 + math.floor(time[2] / 1000), last_stamp))
-- Encoding may fail, so it comes before the first write.
local message = cjson.encode({index + 1, last_tag, new_tag, stamp, {event}})
redis.call('XADD', KEYS[1], string.format('%d-0', index + 1), stamp .. new_tag, event)
redis.call('XTRIM', KEYS[1], 'MINID', string.format('%d-0', math.max(1, index + 1 - kept)))
redis.call(publish, channel, message)
return stamp
