-- Bytes of a session under a name, in place of those that had it; no bytes forget the name.
-- KEYS  1 session  2 blobs   ARGV  1 name  2 bytes  3 bytes that all may have together
if redis.call('EXISTS', KEYS[1]) == 0 then return 'gone' end
local before = redis.call('HSTRLEN', KEYS[2], ARGV[1])
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
  if redis.call('HINCRBY', KEYS[2], 'bytes', -before) == 0 then redis.call('DEL', KEYS[2]) end
  return 'ok'
end
local total = tonumber(redis.call('HGET', KEYS[2], 'bytes') or '0') - before + #ARGV[2]
if total > tonumber(ARGV[3]) then return 'full' end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2], 'bytes', total)
return 'ok'
