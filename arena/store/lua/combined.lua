-- Lines of the global board, each if its sources are still those that it was made of: 1, else 0. A frozen board notes
-- the names instead.
-- KEYS  1 entries  2 order  3 feed  4 frozen  5 stale, a sorted set per metric, then per player: sources, history
-- ARGV  1 strategy  2 time  3 metrics, then per player: name, state of the sources, entry ('' = none), line of history,
--       its metrics…
local metrics = tonumber(ARGV[3])
local frozen = redis.call('HEXISTS', KEYS[4], ARGV[1]) == 1
local done = {}
for i = 0, (#KEYS - 5 - metrics) / 2 - 1 do
  local sources, history = KEYS[6 + metrics + 2 * i], KEYS[7 + metrics + 2 * i]
  local at = 4 + i * (4 + metrics)
  local player, state, entry = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  done[i + 1] = 1
  if (redis.call('HGET', sources, 'v') or '') ~= state then
    done[i + 1] = 0
  elseif frozen then
    redis.call('SADD', KEYS[5], player)
  elseif entry == '' then
    redis.call('HDEL', KEYS[1], player)
    redis.call('ZREM', KEYS[2], player)
    for m = 1, metrics do redis.call('ZREM', KEYS[5 + m], player) end
  else
    redis.call('HSET', KEYS[1], player, entry)
    redis.call('ZADD', KEYS[2], 'NX', redis.call('ZCARD', KEYS[2]), player)
    redis.call('ZADD', history, ARGV[2], state .. ':' .. ARGV[at + 3])
    for m = 1, metrics do
      if ARGV[at + 3 + m] ~= '' then redis.call('ZADD', KEYS[5 + m], ARGV[at + 3 + m], player) end
    end
  end
end
if not frozen then redis.call('SPUBLISH', KEYS[3], ARGV[1]) end
return done
