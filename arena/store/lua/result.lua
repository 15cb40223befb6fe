-- Places of games in the result log of their type, in the order given; a game that has one keeps it.
-- KEYS  1 log  2 places   ARGV  per game: id, result
for i = 1, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[2], ARGV[i]) == 0 then
    redis.call('HSET', KEYS[2], ARGV[i], redis.call('RPUSH', KEYS[1], ARGV[i + 1]))
  end
end
