-- Entries of players in one type, for the global board: the newer ones win. Returns all sources of each player.
-- KEYS  sources of each player   ARGV  1 type  2 generation  3 cursor  4… entry of each ('' = it has none any more)
local field = 't:' .. ARGV[1]
local found = {}
for i, key in ipairs(KEYS) do
  local known = redis.call('HGET', key, field)
  if known then
    local generation, cursor = string.match(known, '^(%d+):(%d+):')
    local newer = tonumber(ARGV[2]) > tonumber(generation)
      or (ARGV[2] == generation and tonumber(ARGV[3]) > tonumber(cursor))
    known = not newer
  end
  if not known then
    redis.call('HSET', key, field, ARGV[2] .. ':' .. ARGV[3] .. ':' .. ARGV[3 + i])
    redis.call('HINCRBY', key, 'v', 1)
  end
  found[i] = redis.call('HGETALL', key)
end
return found
