-- The end of a generation: its numbers and its cursor together, so that nobody counts on with one and not the other.
-- KEYS  1 cursors  2 faults  3 seen  4… numbers   ARGV  1 cursor's field
for i = 1, 3 do redis.call('HDEL', KEYS[i], ARGV[1]) end
for i = 4, #KEYS do redis.call('UNLINK', KEYS[i]) end
return 1
