-- Where a session and its logs stand; a log without a session has an empty tag.
-- KEYS  1 session  2… logs
-- Returns the session's tag, its end, then length and last tag of each log.
local function head(key)
  local last = redis.call('LINDEX', key, -1)
  return last and string.sub(last, 1, 16) or ''
end
local found = redis.call('HMGET', KEYS[1], 'tag', 'end')
local heads = {found[1] or '', found[2] or ''}
for i = 2, #KEYS do
  heads[#heads + 1] = redis.call('LLEN', KEYS[i])
  heads[#heads + 1] = head(KEYS[i])
end
return heads
