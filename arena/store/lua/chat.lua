-- One message of a seated player. Does not touch the session's version, so talk never makes a move fail.
-- KEYS  1 session  2 player log  3 answers  4 feed
-- ARGV  1 key field  2 digest  3 invite  4 entry  5 most messages  6 most bytes  7 now  8 time to talk after the end
local stored = redis.call('HGET', KEYS[3], ARGV[1])
if stored then return {'again', stored} end

local mine, size = 'n:' .. ARGV[3], 'b:' .. ARGV[3]
local found = redis.call('HMGET', KEYS[1], 'players', 'ended', 'talk', mine, size)
if not found[1] then return {'gone'} end
if not string.find(' ' .. found[1] .. ' ', ' ' .. ARGV[3] .. ' ', 1, true) then return {'stranger'} end
local grace = tonumber(ARGV[8])
if found[2] and grace > 0 and tonumber(ARGV[7]) > tonumber(found[2]) + grace then return {'late'} end

local before = redis.call('LLEN', KEYS[2])
-- A full channel takes no more, but from seats that have not had their share of it.
local limit, bytes = tonumber(ARGV[5]), tonumber(ARGV[6])
local shares = 2 * (select(2, string.gsub(found[1], ' ', '')) + 1)
if limit > 0 and before >= limit and tonumber(found[4] or 0) >= math.floor(limit / shares) then return {'full'} end
if bytes > 0 and tonumber(found[3] or 0) + #ARGV[4] > bytes
  and tonumber(found[5] or 0) + #ARGV[4] > math.floor(bytes / shares) then return {'full'} end

local last = redis.call('LINDEX', KEYS[2], -1)
last = last and string.sub(last, 1, 16) or '-'
redis.call('RPUSH', KEYS[2], ARGV[4])
redis.call('HINCRBY', KEYS[1], 'talk', #ARGV[4])
redis.call('HINCRBY', KEYS[1], mine, 1)
redis.call('HINCRBY', KEYS[1], size, #ARGV[4])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2] .. (before + 1))
redis.call('SPUBLISH', KEYS[4], 'p ' .. before .. ' ' .. last .. '\n' .. ARGV[4])
return {'ok', before + 1}
