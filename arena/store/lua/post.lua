-- One message in a channel that belongs to no session.
-- KEYS  1 log  2 answers  3 the shard's free channels  4 feed
-- ARGV  1 key field  2 digest  3 entry  4 channel  5 now  6 silence after which a channel is forgotten
--       7 most messages  8 most bytes  9 most channels in this shard
local stored = redis.call('HGET', KEYS[2], ARGV[1])
if stored then return {'again', stored} end

local now, silence = tonumber(ARGV[5]), tonumber(ARGV[6])
local before = redis.call('LLEN', KEYS[1])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - silence)
local most = tonumber(ARGV[9])
if before == 0 and most > 0 and redis.call('ZCARD', KEYS[3]) >= most then return {'many'} end
local messages, bytes = tonumber(ARGV[7]), tonumber(ARGV[8])
if messages > 0 and before >= messages then return {'full'} end
-- The field of the size has no colon, so it is nobody's key.
if bytes > 0 and tonumber(redis.call('HGET', KEYS[2], 'bytes') or 0) + #ARGV[3] > bytes then return {'full'} end

local last = redis.call('LINDEX', KEYS[1], -1)
last = last and string.sub(last, 1, 16) or '-'
redis.call('RPUSH', KEYS[1], ARGV[3])
redis.call('HINCRBY', KEYS[2], 'bytes', #ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. (before + 1))
redis.call('ZADD', KEYS[3], now, ARGV[4])
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], silence) end
redis.call('SPUBLISH', KEYS[4], 'p ' .. before .. ' ' .. last .. '\n' .. ARGV[3])
return {'ok', before + 1}
