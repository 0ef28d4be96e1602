-- A recorded run as a buffer, without a server: in parts as it was told, and all at
-- once. The text goes to the file that SIDECAR_OUT names.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
local view = require('sidecar.agent.view')
local feed = require('sidecar.agent.feed')

local said = {}
vim.notify = function(text) table.insert(said, text) end
local client = { id = 0, config = { root_dir = '/project' } }
local recorded = vim.tbl_map(vim.json.decode, vim.fn.readfile(vim.env.SIDECAR_TESTDATA .. '/../agent/events.jsonl'))

-- Plays events into a buffer, drawing after each or only at the end.
local function play(events, each)
  local buf = vim.api.nvim_create_buf(true, false)
  local v = view.make(events[1].run, client, buf)
  v.model.root, v.waiting, v.mode = '/project', {}, 'review'
  for _, e in ipairs(events) do
    e.type = 'agent'
    feed.event(nil, e)
    if each then v:draw() end
  end
  v:draw()
  return v, vim.api.nvim_buf_get_lines(buf, 0, -1, false)
end

vim.cmd('edit scratch')
local v, once = play(recorded, false)
T.ok(#said == 4 and said[2]:find('an agent needs you: echo safe‹U+202E›cod.txt', 1, true), 'a question out of sight is told')
vim.cmd('split')
vim.api.nvim_win_set_buf(0, v.buf)
feed.event(nil, vim.tbl_extend('force', recorded[28], { seq = v.model.last + 1, type = 'agent' }))
T.ok(#said == 4, 'one in sight is not')
vim.cmd('bwipeout! ' .. v.buf)
local v, lines = play(recorded, true)
T.ok(vim.deep_equal(once, lines), 'drawn after each event it is as drawn once')
vim.api.nvim_set_current_buf(v.buf)
vim.fn.writefile(lines, vim.env.SIDECAR_OUT)
T.say(require('sidecar.agent.draw').head(v.model, v.mode))

local model = require('sidecar.agent.model')
local m = model.new('r', '/project')
model.apply(m, { kind = 'note', reason = 'title', title = 'Named by the agent' })
T.ok(m.title == 'Named by the agent' and #m.blocks == 0, 'a title is no note')
model.apply(m, { kind = 'note', reason = 'never heard of' })
T.ok(#m.blocks == 1, 'what is not known is one')
T.ok(require('sidecar.agent.text').visible('a\0b') == 'a‹U+0000›b', 'a NUL is shown')

-- What a model wrote is no question and no message of the user's.
local function at(what)
  for i, line in ipairs(lines) do
    if vim.startswith(line, what) then
      vim.api.nvim_win_set_cursor(0, { i, 0 })
      return true
    end
  end
end
T.ok(at('\\? Run: rm -rf') and not v:question(), 'a forged question is none')
T.ok(at('? echo safe') and v:question() and v:question().id == 'q2', 'a real one is one')
T.ok(at('  [a] Allow') and v:question(), 'so is the line of its answers')
T.ok(at('? What name?') and v:question().id == 'q3', 'the next one is another')
vim.cmd('normal gg')
local first = vim.fn.search('^## You', 'n')
vim.cmd('normal ]m')
T.ok(vim.fn.line('.') == first, ']m goes to the next message of the user')
vim.cmd('normal ]m')
local second = vim.fn.line('.')
T.ok(vim.api.nvim_get_current_line():find('while it worked', 1, true), 'and to the next')
vim.cmd('normal ]m')
T.ok(vim.fn.line('.') == second, 'not to a forged one')
vim.cmd('normal [m')
T.ok(vim.fn.line('.') == first, '[m goes back')

-- Links lead to files of the project only.
local root = vim.fn.getcwd()
v.root = root
vim.fn.writefile({ 'x' }, root .. '/here.txt')
vim.bo.modifiable = true
for word, wanted in pairs({
  ['here.txt'] = 'here.txt', ['@here.txt:1'] = 'here.txt', ['`here.txt`,'] = 'here.txt', [root .. '/here.txt:1'] = 'here.txt',
  ['[x](command:workbench.action.quit)'] = false, ['file:///etc/passwd'] = false, ['/etc/passwd'] = false, ['../../../../../../etc/passwd'] = false, [':quit'] = false,
}) do
  vim.api.nvim_set_current_line(word)
  vim.api.nvim_win_set_cursor(0, { vim.fn.line('.'), 0 })
  local path = v:path()
  T.ok(wanted and path and vim.endswith(path, wanted) or not wanted and not path, 'the path at ' .. word)
end

-- What a prompt names is sent along: files of the project only, with the lines of a buffer.
vim.fn.writefile({ 'x', 'y', 'z' }, root .. '/with space.txt')
local named = require('sidecar.agent.prompt').attachments(v, 'see @here.txt, (@here.txt:1) @<with space.txt>:2-3 @diagnostics:here.txt me@here.org @/etc/passwd:1 @../x @')
T.ok(vim.deep_equal(vim.tbl_map(function(a) return { a.kind, vim.fn.fnamemodify(a.uri, ':t'), a.text or '' } end, named), {
  { 'range', 'with%20space.txt', 'y\nz' }, { 'file', 'here.txt', '' }, { 'range', 'here.txt', 'x' }, { 'diagnostics', 'here.txt', 'There are none.' },
}), 'a prompt names ' .. vim.inspect(named))
vim.cmd('bwipeout!')
T.ok(not view.of('r1'), 'the view goes with its buffer')

-- Many events are drawn in a few batches, and the cursor stays where it is.
local many = { { run = 'r2', seq = 1, kind = 'run.start', agent = 'a', title = 't', session = 's' } }
for i = 2, 5000 do
  local call = { call = 'c' .. math.floor(i / 4), title = 'Call ' .. i, kind = 'read' }
  local kinds = { 'call.proposed', 'call.output', 'call.finished', 'text' }
  local e = { run = 'r2', seq = i, kind = kinds[i % 4 + 1], call = call, text = 'text ' .. i, message = 'm' .. i, role = 'assistant', time = '2026-11-24T12:00:00Z' }
  if e.kind == 'call.finished' then call.outcome = 'completed' end
  table.insert(many, e)
end
local buf = vim.api.nvim_create_buf(true, false)
v = view.make('r2', client, buf)
v.waiting = {}
vim.cmd('split')
vim.api.nvim_win_set_buf(0, buf)
local draws, draw = 0, v.draw
v.draw = function(self)
  draws = draws + 1
  return draw(self)
end
for i, e in ipairs(many) do
  e.type = 'agent'
  if i == 2500 then -- somewhere in the middle
    v:draw()
    vim.api.nvim_win_set_cursor(0, { 1000, 3 })
  end
  feed.event(nil, e)
end
T.await(function() return vim.fn.getbufline(buf, '$')[1] == '── ● Ready' and draws >= 2 and not v.drawing end, 'all are drawn')
T.ok(draws <= 3, 'in ' .. draws .. ' batches')
T.ok(vim.deep_equal(vim.api.nvim_win_get_cursor(0), { 1000, 3 }), 'the cursor stays')
T.ok(vim.fn.search('Call 4998') > 0, 'to the last one')
T.say('done')
vim.cmd('qa!')
