-- A heartbeat of a process. If no process sent one for too long before it, that time is recorded as a pause.
--
-- KEYS  processes by last heartbeat, last heartbeat of any process, pauses, requests of the operator, bans
-- ARGV  process id, time without a heartbeat that is a pause (ms), time after which a process has lapsed (ms), number
--       of pauses kept, id of the last request that this process has read ('' for none), time between two heartbeats
--       that counts towards the lapse of a process (ms)
-- Returns Redis' clock in ms, how many processes are alive, the ids of those that have lapsed, the pauses, and 1 if
-- this process was not registered, or had been forgotten, else 0; then the requests after the last one read, and the id
-- of the newest request, and the version of the bans. A process that has read none begins after the newest.
-- The requests are read by pcall: a key of another type there must not stop the heartbeats.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local silence, counted = now - last, tonumber(ARGV[6])
local function text(ms)
  return string.format('%.0f', ms)
end

-- Time in which nobody could send a heartbeat makes nobody lapse: the heartbeats of all processes move along with it,
-- and back if the clock was set back.
if last > 0 and (silence < 0 or silence > counted) then
  local shift = silence < 0 and silence or silence - counted
  for _, process in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    redis.call('ZINCRBY', KEYS[1], text(shift), process)
  end
end
if last > 0 and silence > tonumber(ARGV[2]) then
  redis.call('RPUSH', KEYS[3], text(last) .. '-' .. text(now))
  redis.call('LTRIM', KEYS[3], -tonumber(ARGV[4]), -1)
end
-- Pauses that end later were recorded before the clock was set back. What is left of them in the past stays: a room that
-- was created since would take the rest for a time in which it existed.
local pauses = redis.call('LRANGE', KEYS[3], 0, -1)
local newest_pause = pauses[#pauses]
if newest_pause and tonumber(string.match(newest_pause, '%d+$')) > now then
  redis.call('DEL', KEYS[3])
  for _, pause in ipairs(pauses) do
    local from, to = string.match(pause, '^(%d+)-(%d+)$')
    if tonumber(from) < now then
      redis.call('RPUSH', KEYS[3], from .. '-' .. text(math.min(tonumber(to), now)))
    end
  end
  pauses = redis.call('LRANGE', KEYS[3], 0, -1)
end
redis.call('SET', KEYS[2], text(now))
local added = redis.call('ZADD', KEYS[1], text(now), ARGV[1])
local lapsed = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now - tonumber(ARGV[3])))
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
return {text(now), redis.call('ZCARD', KEYS[1]) - #lapsed, lapsed, pauses, added, requests, newest, version}
