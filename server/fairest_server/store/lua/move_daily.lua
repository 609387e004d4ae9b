-- Add a move to an attempt at a daily deal, or end one whose time is over.
--
-- KEYS  moves, attempts under way, table
-- ARGV  player, number of moves before, move ('' for an attempt whose time is over), time from which its clock counts
--       (ms), end of its time (ms), not after (ms), its place in the order of the table if it ends here ('' if it goes
--       on; without the time of the move), how long it is kept (s)
-- Returns a result and the time of the move since the start in ms: made; ended before; conflict, with other moves than
-- the caller knows; late, its time is over; early, its time is not over; slow, after `not after`.
local player, before, move = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local count, last_ms = redis.call('LLEN', KEYS[1]), 0
local last = redis.call('LINDEX', KEYS[1], -1)
if last then
  last_ms = tonumber(string.match(last, '^%d+'))
end

-- The same move again: its reply was lost.
if move ~= '' and count == before + 1 and last == string.format('%d %s', last_ms, move) then
  return {'made', last_ms}
end
if not redis.call('ZSCORE', KEYS[2], player) then
  return {'ended', 0}
end
if count ~= before then
  return {'conflict', 0}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local is_over = now > tonumber(ARGV[5])
if is_over ~= (move == '') then
  return {is_over and 'late' or 'early', 0}
end
if now > tonumber(ARGV[6]) then
  return {'slow', 0}
end

local at_ms = 0
if move ~= '' then
  at_ms = math.max(now - tonumber(ARGV[4]), last_ms)
  redis.call('RPUSH', KEYS[1], string.format('%d %s', at_ms, move))
  redis.call('EXPIRE', KEYS[1], ARGV[8])
end
if ARGV[7] ~= '' then
  redis.call('ZADD', KEYS[3], 'NX', string.format('%.0f', tonumber(ARGV[7]) - at_ms), player)
  redis.call('EXPIRE', KEYS[3], ARGV[8])
  redis.call('ZREM', KEYS[2], player)
end
return {'made', at_ms}
