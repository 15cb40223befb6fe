-- A player's entry in one type, for the global board: the newer one wins. Returns all its sources and their state.
-- KEYS  1 sources of the player   ARGV  1 type  2 generation  3 cursor  4 entry ('' = it has none any more)
local known = redis.call('HGET', KEYS[1], 't:' .. ARGV[1])
if known then
  local generation, cursor = string.match(known, '^(%d+):(%d+):')
  local newer = tonumber(ARGV[2]) > tonumber(generation)
    or (ARGV[2] == generation and tonumber(ARGV[3]) > tonumber(cursor))
  known = not newer
end
if not known then
  redis.call('HSET', KEYS[1], 't:' .. ARGV[1], ARGV[2] .. ':' .. ARGV[3] .. ':' .. ARGV[4])
  redis.call('HINCRBY', KEYS[1], 'v', 1)
end
return redis.call('HGETALL', KEYS[1])
