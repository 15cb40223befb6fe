-- The end of a session's keys, with its channels and invites; what it was is told to the rest through the outbox.
-- KEYS  1 session  2 inputs  3 operator log  4 player log  5 answers  6 due  7 outbox  8 feed  9 run log
--       10… blobs and invites, then of a pair who has sat where, and its other sessions
-- ARGV  1 tag expected  2 id  3 event  4 number of blobs and invites
local tag = redis.call('HGET', KEYS[1], 'tag')
if not tag then
  redis.call('ZREM', KEYS[6], ARGV[2])
  return {'gone'}
end
if tag ~= ARGV[1] then return {'conflict'} end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[9])
local pair = 10 + tonumber(ARGV[4])
for i = 10, pair - 1 do redis.call('DEL', KEYS[i]) end
local twins = 0
for i = pair + 1, #KEYS do twins = twins + redis.call('EXISTS', KEYS[i]) end
if KEYS[pair] and twins == 0 then redis.call('DEL', KEYS[pair]) end
redis.call('ZREM', KEYS[6], ARGV[2])
local posted = redis.call('XADD', KEYS[7], '*', 'e', ARGV[3])
redis.call('SPUBLISH', KEYS[8], 'x')
return {'ok', posted}
