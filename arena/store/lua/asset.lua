-- A file of a version of a pack; another one never takes its place.
-- KEYS  1 releases  2 files of the release  3 content  4 bytes of all packs
-- ARGV  1 name of the release  2 path  3 record  4 content  5 bytes that there may be (0 = no limit)
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return {'none'} end
local known = redis.call('HGET', KEYS[2], ARGV[2])
if known then return {'known', known} end
local more = redis.call('EXISTS', KEYS[3]) == 0 and #ARGV[4] or 0
local most = tonumber(ARGV[5])
if most > 0 and tonumber(redis.call('GET', KEYS[4]) or 0) + more > most then return {'full'} end
redis.call('SET', KEYS[3], ARGV[4])
redis.call('INCRBY', KEYS[4], more)
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return {'new', ARGV[3]}
