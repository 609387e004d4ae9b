-- The entries of a log of version 0.1.0, as append.lua writes them; nil if one cannot be read. Such a log is a stream, and
-- each of its entries an event: its id is the event's index, its fields are t (stamp), g (tag) and e (event).
-- This text stands before that of each script that meets such logs.
local function old_entries(log)
  local entries = {}
  for number, entry in ipairs(redis.call('XRANGE', log, '-', '+')) do
    local fields = entry[2]
    if #fields ~= 6 or fields[1] ~= 't' or fields[3] ~= 'g' or fields[5] ~= 'e' then
      return nil
    end
    local index, stamp = string.match(entry[1], '^%d+'), string.rep('0', 13 - #fields[2]) .. fields[2]
    entries[number] = stamp .. ' ' .. index .. ' ' .. fields[4] .. '\n' .. fields[6]
  end
  return entries
end

