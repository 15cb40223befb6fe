-- A version of a pack, which never changes once it is there.
-- KEYS  1 releases  2 text  3 manifest  4 bytes of all packs  5 revision
-- ARGV  1 name of the release  2 record  3 text  4 manifest  5 bytes that there may be (0 = no limit)
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known then return {'known', known} end
local more = 0
for i = 2, 3 do
  if redis.call('EXISTS', KEYS[i]) == 0 then more = more + #ARGV[i + 1] end
end
local most = tonumber(ARGV[5])
if most > 0 and tonumber(redis.call('GET', KEYS[4]) or 0) + more > most then return {'full'} end
for i = 2, 3 do redis.call('SET', KEYS[i], ARGV[i + 1]) end
redis.call('INCRBY', KEYS[4], more)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('INCR', KEYS[5])
return {'new', ARGV[2]}
