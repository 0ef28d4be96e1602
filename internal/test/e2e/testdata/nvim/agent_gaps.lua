-- Events that are lost on their way are asked for: the buffer is as if none were.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
local view = require('sidecar.agent.view')
local feed = require('sidecar.agent.feed')

T.start('a.txt', { mode = 'review' })
local n, lost, asked = 0, 0, 0
local event, ask = feed.event, feed.ask
feed.event = function(err, e, ...)
  n = n + 1
  if e.type == 'agent' and e.seq > 20 and e.kind ~= 'run.end' and n % 3 ~= 0 then
    lost = lost + 1
    return
  end
  return event(err, e, ...)
end
feed.ask = function(v, command, ...)
  if command == 'sidecar.agent.history' then asked = asked + 1 end
  return ask(v, command, ...)
end
local run = T.execute('sidecar.agent.run', { agent = 'scripted', consent = true }).run
local v = require('sidecar.agent').open(run, require('sidecar').client())
local function lines() return vim.api.nvim_buf_get_lines(v.buf, 0, -1, false) end
local prompt = {}
for i = 1, 40 do table.insert(prompt, 'say line ' .. i .. '\nrun echo ' .. i .. '\nthink ' .. i) end
table.insert(prompt, 'say the end')
T.execute('sidecar.agent.prompt', { run = run, text = table.concat(prompt, '\n') })
T.await(function() return v.model.ended == 'done' and not v.loading and not v.drawing end, 'the agent has stopped')
T.ok(lost > 20, lost .. ' events were lost')
T.ok(asked > 2, 'history was asked for ' .. asked .. ' times')
feed.event = event
local state = T.execute('sidecar.agent.runs', { all = true }).runs[1].state
T.ok(state == 'idle', 'it is idle')
local said = table.concat(lines(), '\n')
for i = 1, 40 do T.ok(said:find('\nline ' .. i .. '\n', 1, true), 'line ' .. i .. ' is there') end
T.ok(said:find('\nthe end\n', 1, true), 'and the end')
feed.rebuild(v)
T.await(function() return not v.loading and not v.drawing end, 'built anew')
local function conversation(all)
  all = table.concat(all, '\n')
  return all:sub(1, all:find('\n── ', 1, true))
end
T.ok(conversation(lines()) == conversation(vim.split(said, '\n')), 'it says the same')
T.quit()
