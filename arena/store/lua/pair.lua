-- Tickets become a match, all of them or none: each is taken from the queue exactly once.
-- KEYS  1 waiting tickets  2 when they were seen  3 tickets by address  4 matches  5 when those were worked on
--       6… of each ticket what comes of it, and the ticket of its user
-- ARGV  1 match  2 its record  3 now  4 how long results are kept  5 what is told of it until then
--       6… of each ticket its id and origin
for i = 6, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[1], ARGV[i]) == 0 then return 0 end
end
for i = 6, #ARGV, 2 do
  redis.call('HDEL', KEYS[1], ARGV[i])
  redis.call('ZREM', KEYS[2], ARGV[i])
  if redis.call('HINCRBY', KEYS[3], ARGV[i + 1], -1) <= 0 then redis.call('HDEL', KEYS[3], ARGV[i + 1]) end
  redis.call('SET', KEYS[i], ARGV[5], 'PX', ARGV[4])
  redis.call('PEXPIRE', KEYS[i + 1], ARGV[4])
end
redis.call('HSET', KEYS[4], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[5], ARGV[3], ARGV[1])
return 1
