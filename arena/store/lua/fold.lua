-- What a strategy made of the next results, and the cursor behind them: both or neither.
-- KEYS  1 cursors  2 kept  3 entries  4 order  5 faults  6 feed  7… one sorted set per metric
-- ARGV  1 cursor's field  2 cursor expected  3 new cursor  4 news, then per player: name, kept, entry, its metrics…
local cursor = redis.call('HGET', KEYS[1], ARGV[1]) or '0'
if cursor ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HDEL', KEYS[5], ARGV[1])
local metrics = #KEYS - 6
for i = 5, #ARGV, 3 + metrics do
  local player = ARGV[i]
  redis.call('HSET', KEYS[2], player, ARGV[i + 1])
  redis.call('HSET', KEYS[3], player, ARGV[i + 2])
  redis.call('ZADD', KEYS[4], 'NX', redis.call('ZCARD', KEYS[4]), player)
  for m = 1, metrics do
    if ARGV[i + 2 + m] ~= '' then redis.call('ZADD', KEYS[6 + m], ARGV[i + 2 + m], player) end
  end
end
redis.call('SPUBLISH', KEYS[6], ARGV[4])
return 1
