-- A change of a user's profile. What is not told stays, and a signature is good for one change.
-- KEYS  1 profile  2 signatures that were used (only if the change is signed)
-- ARGV  1 user  2 now  3 time of the signature  4 how long one holds  5… field and value pairs
if KEYS[2] then
  local mark = ARGV[3] .. ' ' .. redis.sha1hex(cjson.encode({unpack(ARGV, 5)}))
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. (tonumber(ARGV[2]) - tonumber(ARGV[4])))
  local used = redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[3], ARGV[3])[1]
  if used then return used == mark and 1 or 0 end
  redis.call('ZADD', KEYS[2], ARGV[3], mark)
  redis.call('PEXPIRE', KEYS[2], 3 * tonumber(ARGV[4]))
end
redis.call('HSET', KEYS[1], 'userId', ARGV[1], unpack(ARGV, 5))
return 1
