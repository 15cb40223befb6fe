-- The lists of sessions. News may come twice and in any order: an older version never overwrites a newer one.
-- KEYS  1 versions  2 tombstones  3 lobby feed; the lists are in the same slot, and named after these
-- ARGV  per event: id, version, created at, time when it went ('' = it is there), news for the lobby ('' = none),
--       type, status, listed (1 or 0), origin ('' = unknown), number of users, users…
local function put(list, belongs, created, id)
  if belongs then redis.call('ZADD', list, created, id) else redis.call('ZREM', list, id) end
end

local at = 1
while at <= #ARGV do
  local id, version, created, gone, news = unpack(ARGV, at, at + 4)
  local type, status, listed, origin, users = unpack(ARGV, at + 5, at + 9)
  local known = redis.call('HGET', KEYS[1], id)
  local old = gone == '' and known and tonumber(known) >= tonumber(version)
  if not old and not redis.call('ZSCORE', KEYS[2], id) then
    local here = gone == ''
    local shown = here and listed == '1'
    for _, base in ipairs({'{idx}:all', '{idx}:t:' .. type}) do
      put(base, shown, created, id)
      for _, each in ipairs({'open', 'active', 'ended'}) do
        put(base .. ':' .. each, shown and each == status, created, id)
      end
    end
    for i = 1, tonumber(users) do
      put('{idx}:u:' .. ARGV[at + 9 + i], shown and status == 'ended', created, id)
    end
    if origin ~= '' then put('{idx}:o:' .. origin, here and status == 'open', created, id) end
    if here then
      redis.call('HSET', KEYS[1], id, version)
    else
      redis.call('HDEL', KEYS[1], id)
      redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', tonumber(gone) - 86400000)
      redis.call('ZADD', KEYS[2], gone, id)
    end
    if news ~= '' then redis.call('SPUBLISH', KEYS[3], news) end
  end
  at = at + 10 + tonumber(users)
end
