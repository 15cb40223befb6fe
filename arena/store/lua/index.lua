-- The lists of sessions. News may come twice and in any order: an older version never overwrites a newer one.
-- KEYS  1 versions  2 tombstones  3 lobby feed  4… lists that the session is to be in from now on
-- ARGV  1 id  2 version  3 created at  4 time, '' = keep, else the session is gone and remembered as such
--       5 news for the lobby ('' = none)  6… lists to leave
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end
local known = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[4] == '' and known and tonumber(known) >= tonumber(ARGV[2]) then return 0 end
for i = 6, #ARGV do redis.call('ZREM', ARGV[i], ARGV[1]) end
if ARGV[4] ~= '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', tonumber(ARGV[4]) - 86400000)
  redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  for i = 4, #KEYS do redis.call('ZADD', KEYS[i], ARGV[3], ARGV[1]) end
end
if ARGV[5] ~= '' then redis.call('SPUBLISH', KEYS[3], ARGV[5]) end
return 1
