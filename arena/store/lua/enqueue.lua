-- A ticket joins the queue of its challenge, once: its owner may ask again and gets the same one.
-- KEYS  1 waiting tickets  2 when they were seen  3 tickets by address  4 what came of this ticket  5 ticket of the user
-- ARGV  1 ticket  2 its record  3 now  4 origin  5 most tickets  6 most of an origin (0 = no limit)
--       7 whether it has a user  8 a ticket of the user that counts no more ('' = none)
if redis.call('EXISTS', KEYS[4]) == 1 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('ZADD', KEYS[2], 'XX', ARGV[3], ARGV[1])
  return {'again', ARGV[1]}
end
local other = ARGV[7] == '1' and redis.call('GET', KEYS[5])
if other and other ~= ARGV[8] then return {'other', other} end
local most, share = tonumber(ARGV[5]), tonumber(ARGV[6])
if most > 0 and redis.call('HLEN', KEYS[1]) >= most then return {'full'} end
if share > 0 and tonumber(redis.call('HGET', KEYS[3], ARGV[4]) or 0) >= share then return {'many'} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('HINCRBY', KEYS[3], ARGV[4], 1)
if ARGV[7] == '1' then redis.call('SET', KEYS[5], ARGV[1]) end
return {'ok', ARGV[1]}
