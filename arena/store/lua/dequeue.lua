-- A ticket leaves the queue, if it still waits, and was not seen lately where that is asked for.
-- KEYS  1 waiting tickets  2 when they were seen  3 tickets by address  4 ticket of the user
-- ARGV  1 ticket  2 origin  3 the last moment at which it may have been seen ('' = any)
local seen = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not seen or (ARGV[3] ~= '' and tonumber(seen) > tonumber(ARGV[3])) then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('HINCRBY', KEYS[3], ARGV[2], -1) <= 0 then redis.call('HDEL', KEYS[3], ARGV[2]) end
if redis.call('GET', KEYS[4]) == ARGV[1] then redis.call('DEL', KEYS[4]) end
return 1
