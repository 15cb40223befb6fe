-- A job for the stream, once a day at most under the same id.
-- KEYS  1 stream  2 known ids by time   ARGV  1 id  2 job
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 86400)
if redis.call('ZADD', KEYS[2], 'NX', now, ARGV[1]) == 0 then return 0 end
redis.call('XADD', KEYS[1], '*', 'job', ARGV[2])
return 1
