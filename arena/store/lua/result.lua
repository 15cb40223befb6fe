-- A game's place in the result log of its type; a game that has one keeps it.
-- KEYS  1 log  2 places   ARGV  1 game id  2 result
local place = redis.call('HGET', KEYS[2], ARGV[1])
if place then return tonumber(place) end
place = redis.call('RPUSH', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[1], place)
return place
