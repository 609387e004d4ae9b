-- Fill a single Redis with ratings of generated matches, in the form in which rate_match.lua leaves them.
--
-- ARGV  first number, last number, number of players, kind ('results' or 'players'), the present day
local first, last, players, day = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[5])
local function id(player)
  return string.format('%064x', player)
end
local function tally(player)
  local mean = 1000000 + (player * 7919) % 1000000
  return string.format('[%d,180000,%d,42,23,1,%d,7,2,1,33,%d]', mean, day, player % 9 - 4, 200000 + player % 90000), mean
end
if ARGV[4] == 'results' then
  -- The script is sent again when its reply is late.
  local newest = redis.call('XREVRANGE', 'fairest:{ratings}:results', '+', '-', 'COUNT', 1)[1]
  first = math.max(first, newest and tonumber(string.match(newest[1], '^%d+')) + 1 or 1)
end
for number = first, last do
  if ARGV[4] == 'players' then
    local name, text, mean = string.format('player_%06d', number), tally(number)
    redis.call('HSET', 'fairest:player:' .. id(number), 'name', name)
    redis.call('SET', 'fairest:{ratings}:name:' .. name, id(number))
    redis.call('HSET', 'fairest:{ratings}:player:' .. id(number), 'classic', text, 'easy', text, 'senior', text)
    for _, variant in ipairs({'classic', 'easy', 'senior'}) do
      redis.call('ZADD', 'fairest:{ratings}:board:' .. variant, mean, id(number))
      redis.call('ZADD', 'fairest:{ratings}:days:' .. variant, day + 150, id(number))
    end
  else
    local one, two = (number * 7919) % players, (number * 104729 + 1) % players
    if one == two then
      two = (two + 1) % players
    end
    local pair = '[[' .. number % 5 .. ',3],1,[120,98],' .. day .. ']'
    local smaller, larger = math.min(one, two), math.max(one, two)
    redis.call('XADD', 'fairest:{ratings}:results', number .. '-0', 'm', string.format('%032x', number), 'v', 'classic',
      'p', id(one) .. ' ' .. id(two), '0', (tally(one)), '1', (tally(two)), 's', pair)
    redis.call('HSET', 'fairest:{ratings}:pair:' .. id(smaller) .. ':' .. id(larger), 'classic', pair)
    redis.call('ZADD', 'fairest:{ratings}:marks', day, string.format('%032x', number))
  end
end
