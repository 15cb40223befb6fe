-- Lease tokens of a bucket that all workers share. KEYS: bucket. ARGV: tokens a second, most that it holds, tokens that
-- the worker brings back, tokens that it wants. Returns what it gets and what is left.
local rate, most, back, want = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = most
if kept[1] then
  tokens = tonumber(kept[1]) + rate * math.max(0, now - tonumber(kept[2]))
end
tokens = math.min(most, tokens + back)
local granted = math.min(want, math.floor(tokens))
tokens = tokens - granted
redis.call('HSET', KEYS[1], 'tokens', string.format('%.3f', tokens), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(1000 * (most - tokens) / rate) + 1000) -- then it is full, as a new one would be
return {granted, string.format('%.3f', tokens)}
