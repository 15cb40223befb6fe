-- The end of a session's keys, with its channels and invites; what it was is told to the rest through the outbox.
-- KEYS  1 session  2 inputs  3 operator log  4 player log  5 answers  6 due  7 outbox  8 feed  9… invites
-- ARGV  1 tag expected  2 id  3 event
local tag = redis.call('HGET', KEYS[1], 'tag')
if not tag then
  redis.call('ZREM', KEYS[6], ARGV[2])
  return {'gone'}
end
if tag ~= ARGV[1] then return {'conflict'} end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
for i = 9, #KEYS do redis.call('DEL', KEYS[i]) end
redis.call('ZREM', KEYS[6], ARGV[2])
local posted = redis.call('XADD', KEYS[7], '*', 'e', ARGV[3])
redis.call('SPUBLISH', KEYS[8], 'x')
return {'ok', posted}
