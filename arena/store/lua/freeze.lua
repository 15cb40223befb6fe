-- Freeze a board with all that it shows, if strategy and record stand at the end of the log: 1 done, 0 not yet.
-- KEYS  1 log  2 cursors  3 generations  4 frozen  5 facts  6 meetings  7 facts of the frozen  8 meetings of the frozen
--       9 feed   ARGV  1 strategy  2 record's field  3 time  4 1 = fitted in batches: it may stand where it is
if redis.call('HEXISTS', KEYS[4], ARGV[1]) == 1 then return 1 end
local field = ARGV[1] .. ':' .. (redis.call('HGET', KEYS[3], ARGV[1]) or '1')
local games = redis.call('LLEN', KEYS[1])
if tonumber(redis.call('HGET', KEYS[2], ARGV[2]) or 0) ~= games then return 0 end
if ARGV[4] ~= '1' and tonumber(redis.call('HGET', KEYS[2], field) or 0) ~= games then return 0 end
redis.call('HSET', KEYS[4], ARGV[1], games .. ':' .. ARGV[3])
redis.call('COPY', KEYS[5], KEYS[7], 'REPLACE')
redis.call('COPY', KEYS[6], KEYS[8], 'REPLACE')
redis.call('SPUBLISH', KEYS[9], ARGV[1])
return 1
