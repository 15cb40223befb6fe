-- How far a strategy has come: its generation, the cursor of that very generation, what it has seen, and its freezing.
-- KEYS  1 generations  2 cursors  3 seen  4 frozen   ARGV  1 strategy  2 generation ('' = the current one)
local generation = ARGV[2]
if generation == '' then generation = redis.call('HGET', KEYS[1], ARGV[1]) or '1' end
local field = ARGV[1] .. ':' .. generation
return {
  tonumber(generation),
  tonumber(redis.call('HGET', KEYS[2], field) or 0),
  redis.call('HGET', KEYS[3], field) or '',
  redis.call('HGET', KEYS[4], ARGV[1]) or '',
}
