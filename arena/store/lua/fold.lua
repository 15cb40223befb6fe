-- What a strategy made of the next results, and the cursor behind them: both or neither. A frozen board stays.
-- KEYS  1 cursors  2 seen  3 faults  4 frozen  5 feed  6 kept  7 entries  8 order  9 history  10… a sorted set per metric
-- ARGV  1 cursor's field  2 cursor expected  3 new cursor  4 strategy  5 what it has seen  6 lines of history, then
--       those: place and line, then per player: name, kept, entry, its metrics…
local cursor = redis.call('HGET', KEYS[1], ARGV[1]) or '0'
if cursor ~= ARGV[2] then return 0 end
local frozen = redis.call('HGET', KEYS[4], ARGV[4])
if frozen and tonumber(ARGV[3]) > tonumber(string.match(frozen, '^%d+')) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[5])
redis.call('HDEL', KEYS[3], ARGV[1])
local lines = tonumber(ARGV[6])
for i = 7, 6 + 2 * lines, 2 do redis.call('HSET', KEYS[9], ARGV[i], ARGV[i + 1]) end
local metrics = #KEYS - 9
for i = 7 + 2 * lines, #ARGV, 3 + metrics do
  local player = ARGV[i]
  redis.call('HSET', KEYS[6], player, ARGV[i + 1])
  redis.call('HSET', KEYS[7], player, ARGV[i + 2])
  redis.call('ZADD', KEYS[8], 'NX', redis.call('ZCARD', KEYS[8]), player)
  for m = 1, metrics do
    if ARGV[i + 2 + m] ~= '' then redis.call('ZADD', KEYS[9 + m], ARGV[i + 2 + m], player) end
  end
end
redis.call('SPUBLISH', KEYS[5], ARGV[4])
return 1
