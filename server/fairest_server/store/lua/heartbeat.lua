-- A heartbeat of a process. If no process sent one for too long before it, that time is recorded as a pause.
--
-- KEYS  processes by last heartbeat, last heartbeat of any process, pauses, requests of the operator, bans
-- ARGV  process id, time without a heartbeat that is a pause (ms), time after which a process has lapsed (ms), number
--       of pauses kept, id of the last request that this process has read ('' for none)
-- Returns Redis' clock in ms, how many processes are alive, the ids of those that have lapsed, the pauses, and 1 if
-- this process was not registered, or had been forgotten, else 0; then the requests after the last one read, and the id
-- of the newest request, and the version of the bans. A process that has read none begins after the newest.
-- The requests are read by pcall: a key of another type there must not stop the heartbeats.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
if last > 0 and now - last > tonumber(ARGV[2]) then
  redis.call('RPUSH', KEYS[3], string.format('%.0f-%.0f', last, now))
  redis.call('LTRIM', KEYS[3], -tonumber(ARGV[4]), -1)
end
local stamp = string.format('%.0f', now)
redis.call('SET', KEYS[2], stamp)
local added = redis.call('ZADD', KEYS[1], stamp, ARGV[1])
local lapsed = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - tonumber(ARGV[3])))
local newest, requests = ARGV[5], {}
if newest == '' then
  local last_request = redis.pcall('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 1)
  newest = last_request[1] and last_request[1][1] or '0-0'
else
  local found = redis.pcall('XRANGE', KEYS[4], '(' .. newest, '+', 'COUNT', 100)
  if not found.err and #found > 0 then
    requests, newest = found, found[#found][1]
  end
end
local version = redis.pcall('HGET', KEYS[5], 'version')
if type(version) ~= 'string' then
  version = ''
end
return {stamp, redis.call('ZCARD', KEYS[1]) - #lapsed, lapsed, redis.call('LRANGE', KEYS[3], 0, -1), added, requests, newest, version}
