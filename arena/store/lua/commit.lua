-- One input of a session, all of it or nothing: state, messages, input log, deadline, outbox, feed.
-- KEYS  1 session  2 inputs  3 operator log  4 player log  5 answers  6 due  7 outbox  8 feed  9 run log
--       10… invites (create) or the pair (join)
-- ARGV  1 key field  2 digest  3 answer  4 tag expected ('' = no such session yet)  5 new tag  6 version
--       7 header ('' = as it is)  8 state  9 game  10 input ('' = none)  11 players  12 due ('' = none)  13 id
--       14 time of the end ('' = not in this turn)  15 number of messages, messages…, number of events, events…,
--       number of notes, notes…, then who takes which seat of a pair, on whose deal nobody may have sat elsewhere
local stored = redis.call('HGET', KEYS[5], ARGV[1])
local tag = redis.call('HGET', KEYS[1], 'tag') or ''
if stored then return {'again', stored, tag} end
if tag ~= ARGV[4] then return {'conflict'} end

local messages = tonumber(ARGV[15])
local events = 16 + messages
local notes = events + tonumber(ARGV[events]) + 1
local user = notes + tonumber(ARGV[notes]) + 1
if ARGV[user] then
  local seat = redis.call('HGET', KEYS[10], ARGV[user])
  if seat and seat ~= ARGV[user + 1] then return {'elsewhere'} end
  redis.call('HSET', KEYS[10], ARGV[user], ARGV[user + 1])
end

redis.call('HSET', KEYS[1], 'tag', ARGV[5], 'version', ARGV[6], 'state', ARGV[8], 'game', ARGV[9], 'players', ARGV[11])
if ARGV[7] ~= '' then
  redis.call('HSET', KEYS[1], 'header', ARGV[7])
  for i = 10, #KEYS do redis.call('SET', KEYS[i], ARGV[13]) end
end
if ARGV[10] ~= '' then redis.call('RPUSH', KEYS[2], ARGV[10]) end

local before = redis.call('LLEN', KEYS[3])
local last = redis.call('LINDEX', KEYS[3], -1)
last = last and string.sub(last, 1, 16) or '-'
local lines = {}
for i = 1, messages do lines[i] = ARGV[15 + i] end
for i = 1, messages, 1000 do -- more would not fit on Lua's stack, and a script that fails half-way stays half done
  redis.call('RPUSH', KEYS[3], unpack(lines, i, math.min(i + 999, messages)))
end

local ended = '-'
if ARGV[14] ~= '' then
  ended = (before + messages) .. ':' .. redis.call('LLEN', KEYS[4])
  redis.call('HSET', KEYS[1], 'ended', ARGV[14], 'end', ended)
end

if ARGV[12] == '' then
  redis.call('ZREM', KEYS[6], ARGV[13])
else
  redis.call('ZADD', KEYS[6], ARGV[12], ARGV[13])
end

local posted = {}
for i = 1, tonumber(ARGV[events]) do
  posted[i] = redis.call('XADD', KEYS[7], '*', 'e', ARGV[events + i])
end

for i = notes + 1, user - 1 do redis.call('RPUSH', KEYS[9], ARGV[i]) end

redis.call('HSET', KEYS[5], ARGV[1], ARGV[2] .. ARGV[3])
local head = table.concat({'o', before, last, ARGV[6], ARGV[5], ended}, ' ')
redis.call('SPUBLISH', KEYS[8], head .. '\n' .. table.concat(lines, '\n'))
return {'ok', before, posted}
