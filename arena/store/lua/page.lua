-- A page of a channel's log from a cursor on, if the cursor still holds; else from the start.
-- KEYS  1 log  2 session (if its tag is wanted)
-- ARGV  1 index wanted  2 epoch: tag of the message before it  3 most bytes  4 'any' = whatever that tag is
-- Returns whether the cursor holds, the first index, the epoch after the page, the length of the log, the entries,
-- and if it is wanted the tag at which the session stands ('' = none).
local first, epoch, bytes = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local length = redis.call('LLEN', KEYS[1])
local holds = 1
if first > 1 and ARGV[4] ~= 'any' then
  local before = redis.call('LINDEX', KEYS[1], first - 2)
  if not before or string.sub(before, 1, 16) ~= epoch then holds, first, epoch = 0, 1, '' end
elseif first <= 1 then
  first, epoch = 1, ''
end

local entries, size, at = {}, 0, first - 1
while at < length and size < bytes do
  local some = redis.call('LRANGE', KEYS[1], at, at + 15)
  for _, entry in ipairs(some) do
    if size > 0 and size + #entry > bytes then size = bytes break end
    entries[#entries + 1] = entry
    size = size + #entry
    at = at + 1
  end
end
if #entries > 0 then epoch = string.sub(entries[#entries], 1, 16) end
local page = {holds, first, epoch, length, entries}
if KEYS[2] then page[6] = redis.call('HGET', KEYS[2], 'tag') or '' end
return page
