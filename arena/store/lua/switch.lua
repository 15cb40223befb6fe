-- Let a recomputed generation take over, once it has counted all that the old one has; sent twice, it says yes twice.
-- KEYS  1 cursors  2 generations  3 sent  4 faults  5 feed   ARGV  1 strategy  2 old generation  3 new generation
local current = redis.call('HGET', KEYS[2], ARGV[1]) or '1'
if current == ARGV[3] then return 1 end
if current ~= ARGV[2] then return -1 end
local old = redis.call('HGET', KEYS[1], ARGV[1] .. ':' .. ARGV[2]) or '0'
local new = redis.call('HGET', KEYS[1], ARGV[1] .. ':' .. ARGV[3]) or '0'
if tonumber(new) < tonumber(old) then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1] .. ':' .. ARGV[2])
redis.call('SPUBLISH', KEYS[5], ARGV[1])
return 1
