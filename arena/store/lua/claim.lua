-- Take over a match that nobody has worked on since somebody looked. KEYS: when matches were worked on.
-- ARGV: match, when it was worked on last, now
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at or tonumber(at) ~= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
