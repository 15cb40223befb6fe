-- The end of a generation: its numbers and its cursor together, so that nobody counts on with one and not the other.
-- KEYS  1 cursors  2 faults  3… numbers   ARGV  1 cursor's field
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
for i = 3, #KEYS do redis.call('UNLINK', KEYS[i]) end
return 1
