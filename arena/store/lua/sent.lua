-- How far a type's entries have been sent to the global board; it only goes forward within a generation.
-- KEYS  1 sent   ARGV  1 strategy  2 generation  3 cursor
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known then
  local generation, cursor = string.match(known, '^(%d+):(%d+)$')
  if tonumber(generation) > tonumber(ARGV[2]) then return 0 end
  if tonumber(generation) == tonumber(ARGV[2]) and tonumber(cursor) >= tonumber(ARGV[3]) then return 0 end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ':' .. ARGV[3])
return 1
