-- A player's line on the global board, if its sources are still those that it was made of.
-- KEYS  1 sources  2 entries  3 order  4 feed  5… one sorted set per metric
-- ARGV  1 state of the sources  2 player  3 entry ('' = none)  4 news  5… metrics
if redis.call('HGET', KEYS[1], 'v') ~= ARGV[1] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[2], ARGV[2])
  for k = 3, #KEYS do
    if k ~= 4 then redis.call('ZREM', KEYS[k], ARGV[2]) end
  end
else
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
  redis.call('ZADD', KEYS[3], 'NX', redis.call('ZCARD', KEYS[3]), ARGV[2])
  for m = 5, #KEYS do
    if ARGV[m] ~= '' then redis.call('ZADD', KEYS[m], ARGV[m], ARGV[2]) end
  end
end
redis.call('SPUBLISH', KEYS[4], ARGV[4])
return 1
