-- A game that was played elsewhere, as it was at its end; one that is here already stays as it is.
-- KEYS  1 session  2 inputs  3 operator log  4 player log  5… invites
-- ARGV  1 id  2 tag  3 version  4 header  5 state  6 game  7 players  8 time of the end
--       9 number of inputs  10 of operator messages  11 of player messages, then all of these
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local at = 12
for log = 1, 3 do
  local count = tonumber(ARGV[8 + log])
  for i = at, at + count - 1 do redis.call('RPUSH', KEYS[1 + log], ARGV[i]) end
  at = at + count
end
redis.call('HSET', KEYS[1], 'tag', ARGV[2], 'version', ARGV[3], 'header', ARGV[4], 'state', ARGV[5], 'game', ARGV[6],
  'players', ARGV[7], 'ended', ARGV[8], 'end', ARGV[10] .. ':' .. ARGV[11])
for i = 5, #KEYS do redis.call('SET', KEYS[i], ARGV[1]) end
return 1
