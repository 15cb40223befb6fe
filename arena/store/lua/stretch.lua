-- A part of a board, best first: players of the whole board, how many are better than the first line, the lines.
-- KEYS  1 generations  2 entries  3 kept  4 the sorted set of a metric
-- ARGV  1 strategy  2 the generation that these are of  3 offset  4 limit  5 whether what is kept is wanted, 1 or 0
local generation = redis.call('HGET', KEYS[1], ARGV[1]) or '1'
if generation ~= ARGV[2] then return tonumber(generation) end
local players = redis.call('ZCARD', KEYS[4])
local found = redis.call('ZREVRANGE', KEYS[4], ARGV[3], ARGV[3] + ARGV[4] - 1)
if #found == 0 then return {players, 0, {}, {}} end
local best = redis.call('ZSCORE', KEYS[4], found[1])
local above = redis.call('ZCOUNT', KEYS[4], '(' .. best, '+inf')
local kept = ARGV[5] == '1' and redis.call('HMGET', KEYS[3], unpack(found)) or {}
return {players, above, redis.call('HMGET', KEYS[2], unpack(found)), kept}
