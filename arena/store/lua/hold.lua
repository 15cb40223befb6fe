-- Take or keep something that only one may have, for a while.
-- KEYS  1 who has it
-- ARGV  1 who asks  2 for how many milliseconds, 0 = gives it back
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return 1
