-- Change tickets of waiting players in one step, if every one of them is as the caller knows it.
--
-- KEYS  tickets by player
-- ARGV  for each change: player, the ticket before it, the ticket after it; empty where there is none
-- Returns 1 if all changes were made, 0 if one ticket was another one and nothing was changed.
for at = 1, #ARGV, 3 do
  if (redis.call('HGET', KEYS[1], ARGV[at]) or '') ~= ARGV[at + 1] then
    return 0
  end
end
for at = 1, #ARGV, 3 do
  if ARGV[at + 2] == '' then
    redis.call('HDEL', KEYS[1], ARGV[at])
  else
    redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 2])
  end
end
return 1
