-- Put a session's entry among the deadlines right, unless somebody has committed since.
-- KEYS  1 session  2 due   ARGV  1 tag expected ('' = the session is gone)  2 id  3 due ('' = none)
if (redis.call('HGET', KEYS[1], 'tag') or '') ~= ARGV[1] then return 0 end
if ARGV[3] == '' then
  redis.call('ZREM', KEYS[2], ARGV[2])
else
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
end
return 1
