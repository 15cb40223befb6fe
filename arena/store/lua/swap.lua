-- Put a value in place of another, if that is what is there, and count the change.
-- KEYS  1 hash  2 counter
-- ARGV  1 field  2 what is there, '' = nothing  3 what takes its place
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('INCR', KEYS[2])
return 1
