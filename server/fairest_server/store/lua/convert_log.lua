-- Convert a log of version 0.1.0 into a list, as append.lua writes logs.
--
-- KEYS  log
-- Returns 1, or 0 if an entry cannot be read (old_entries.lua); nothing is changed then.
if redis.call('TYPE', KEYS[1]).ok ~= 'stream' then
  -- Another process has converted it meanwhile.
  return 1
end
local entries = old_entries(KEYS[1])
if not entries then
  return 0
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
