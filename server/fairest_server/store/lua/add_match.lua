-- Put the row of a finished match into each of some lists, which keep the newest rows of matches whose records are kept.
--
-- KEYS  lists of rows, which Redis sorts by their text
-- ARGV  row, number of rows kept, the text before which a row is of a record that has expired, how long a list is kept (s)
for place = 1, #KEYS do
  redis.call('ZADD', KEYS[place], 0, ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[place], 0, -ARGV[2] - 1)
  redis.call('ZREMRANGEBYLEX', KEYS[place], '-', '(' .. ARGV[3])
  redis.call('EXPIRE', KEYS[place], ARGV[4])
end
