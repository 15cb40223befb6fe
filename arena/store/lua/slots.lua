-- Say how many slots a worker has taken, and hear how many the others have. KEYS: slots. ARGV: worker, its count,
-- milliseconds after which a worker that says nothing counts as dead.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local life = tonumber(ARGV[3])
local others = 0
local kept = redis.call('HGETALL', KEYS[1])
for n = 1, #kept, 2 do
  local count, at = string.match(kept[n + 1], '^(%d+):(%d+)$')
  if now - tonumber(at) > life then
    redis.call('HDEL', KEYS[1], kept[n])
  elseif kept[n] ~= ARGV[1] then
    others = others + tonumber(count)
  end
end
if tonumber(ARGV[2]) > 0 then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ':' .. string.format('%d', now))
  redis.call('PEXPIRE', KEYS[1], life)
else
  redis.call('HDEL', KEYS[1], ARGV[1])
end
return others
