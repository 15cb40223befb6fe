-- A new tournament, or the one that was made under the same key.
-- KEYS  1 all by time  2 those that are played  3 id by key  4 the tournament
-- ARGV  1 key, '' = none  2 id  3 head  4 state  5 now
local known = ARGV[1] ~= '' and redis.call('HGET', KEYS[3], ARGV[1])
if known then return known end
redis.call('HSET', KEYS[4], 'head', ARGV[3], 'state', ARGV[4])
redis.call('ZADD', KEYS[1], ARGV[5], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[2])
if ARGV[1] ~= '' then redis.call('HSET', KEYS[3], ARGV[1], ARGV[2]) end
return ARGV[2]
