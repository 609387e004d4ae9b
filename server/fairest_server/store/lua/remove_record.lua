-- Delete a record, unless it is another text by now.
--
-- KEYS  record
-- ARGV  text
-- Returns 1 if the record was deleted, else 0.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
