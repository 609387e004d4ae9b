-- Keep the secret of a daily deal, and put its opening into an outbox of the chain of rounds, unless it has one.
--
-- KEYS  deal, deals that are not opened, outbox of rounds
-- ARGV  secret, member for the deals that are not opened, entry for the chain of rounds, how long the deal is kept (s),
--       1 if its beacon will be a drand round
-- Returns whether the secret was kept.
if redis.call('HSETNX', KEYS[1], 'secret', ARGV[1]) == 0 then
  return 0
end
if ARGV[5] == '1' then
  redis.call('HSET', KEYS[1], 'drand', 1)
end
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('XADD', KEYS[3], '*', 'e', ARGV[3])
return 1
