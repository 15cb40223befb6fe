-- What the next results add to the record of a type, and the cursor behind them: both or neither.
-- KEYS  1 cursors  2 facts  3 meetings  4… games of a player
-- ARGV  1 cursor's field  2 cursor expected  3 new cursor  4 players  5 meetings, then those: player and facts, pair and
--       counts, then per game of a player: number of its key, time, place in the log
local cursor = redis.call('HGET', KEYS[1], ARGV[1]) or '0'
if cursor ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
local i = 6
for _ = 1, tonumber(ARGV[4]) do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  i = i + 2
end
for _ = 1, tonumber(ARGV[5]) do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
  i = i + 2
end
for j = i, #ARGV, 3 do redis.call('ZADD', KEYS[3 + tonumber(ARGV[j])], ARGV[j + 1], ARGV[j + 2]) end
return 1
