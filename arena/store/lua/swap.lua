-- Put a value in place of another, if that is what is there.
-- KEYS  1 hash
-- ARGV  1 field  2 what is there, '' = nothing  3 what takes its place
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
