-- The tickets of a match are told what came of it, unless they were told before.
-- KEYS  1 matches  2 when they were worked on  3 feed  4… what came of each ticket
-- ARGV  1 match  2 its record from now on ('' = nothing is left to do)  3 now  4 how long results are kept
--       5 the tickets  6… what came of each
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
for i = 6, #ARGV do redis.call('SET', KEYS[i - 2], ARGV[i], 'PX', ARGV[4]) end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
end
redis.call('SPUBLISH', KEYS[3], ARGV[5])
return 1
