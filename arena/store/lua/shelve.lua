-- Packs, or versions of them, that take no new sessions.
-- KEYS  1 archived  2 revision
-- ARGV  1 name of the pack, or of one release  2 '1' = archived, else it is offered again
local moved = redis.call(ARGV[2] == '1' and 'SADD' or 'SREM', KEYS[1], ARGV[1])
if moved == 1 then redis.call('INCR', KEYS[2]) end
return moved
