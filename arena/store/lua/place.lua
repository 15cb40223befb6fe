-- How far a strategy has come: its generation, and the cursor of that very generation.
-- KEYS  1 generations  2 cursors   ARGV  1 strategy  2 generation ('' = the current one)
local generation = ARGV[2]
if generation == '' then generation = redis.call('HGET', KEYS[1], ARGV[1]) or '1' end
return {tonumber(generation), tonumber(redis.call('HGET', KEYS[2], ARGV[1] .. ':' .. generation) or 0)}
