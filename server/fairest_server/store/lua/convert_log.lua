-- Write a log of version 0.1.0 anew, as append.lua writes logs. It is a stream, and each entry has an event: its id is the
-- event's index, its fields are t (stamp), g (tag) and e (event).
--
-- KEYS  log
-- Returns 1; or 0 if an entry has other fields, and nothing is changed.
if redis.call('TYPE', KEYS[1]).ok ~= 'stream' then
  -- Another process has converted it meanwhile.
  return 1
end
local entries = {}
for number, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
  local fields = entry[2]
  if #fields ~= 6 or fields[1] ~= 't' or fields[3] ~= 'g' or fields[5] ~= 'e' then
    return 0
  end
  local index, stamp = string.match(entry[1], '^%d+'), string.rep('0', 13 - #fields[2]) .. fields[2]
  entries[number] = stamp .. ' ' .. index .. ' ' .. fields[4] .. '\n' .. fields[6]
end
local left = redis.call('PTTL', KEYS[1])
redis.call('DEL', KEYS[1])
for _, entry in ipairs(entries) do
  redis.call('RPUSH', KEYS[1], entry)
end
if left >= 0 then
  redis.call('PEXPIRE', KEYS[1], left)
end
return 1
