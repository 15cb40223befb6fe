-- The signed record of a session. One that is kept already stays as it is, and nothing is kept of what is gone.
-- KEYS  1 session
-- ARGV  1 record  2 whether it comes in the place of another
-- Returns what is kept.
if redis.call('HEXISTS', KEYS[1], 'tag') == 0 then return false end
if ARGV[2] == '1' then
  redis.call('HSET', KEYS[1], 'proof', ARGV[1])
else
  redis.call('HSETNX', KEYS[1], 'proof', ARGV[1])
end
return redis.call('HGET', KEYS[1], 'proof')
