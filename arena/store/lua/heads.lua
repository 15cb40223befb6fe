-- Where a session and its two logs stand.
-- KEYS  1 session  2 operator log  3 player log
local function head(key)
  local last = redis.call('LINDEX', key, -1)
  return last and string.sub(last, 1, 16) or ''
end
local found = redis.call('HMGET', KEYS[1], 'tag', 'end')
return {
  found[1] or '', found[2] or '',
  redis.call('LLEN', KEYS[2]), head(KEYS[2]),
  redis.call('LLEN', KEYS[3]), head(KEYS[3]),
}
