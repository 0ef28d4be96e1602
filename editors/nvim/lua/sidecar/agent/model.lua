-- A run as its events tell it: blocks of the conversation in their order, and
-- what is so now. Which kinds of events there are: docs/protocol.md.

local text = require('sidecar.agent.text')

local M = {}

-- A run of which nothing is known yet. `from` and `to` are the first and the
-- last block that have changed; who draws them sets them to nil.
function M.new(run, root)
  return {
    run = run, root = root, last = 0, blocks = {}, agent = '', title = '', session = '', state = 'idle',
    plan = {}, queue = {}, paused = false, questions = {}, messages = {}, calls = {},
  }
end

local function touch(m, block)
  m.from = math.min(m.from or block.index, block.index)
  m.to = math.max(m.to or block.index, block.index)
end

local function add(m, block)
  block.index = #m.blocks + 1
  m.blocks[block.index] = block
  touch(m, block)
  return block
end

-- A path as it is shown: below the root if it is there.
function M.path(m, path)
  if path:sub(1, #m.root + 1) == m.root .. '/' then path = path:sub(#m.root + 2) end
  return text.line(path, 200)
end

-- A part of a message, or all of it.
local function message(m, e)
  local kind = e.kind == 'thought' and 'thought' or e.role == 'user' and 'you' or 'text'
  local block = m.messages[e.message or '']
  if not block or block.kind ~= kind then block = add(m, { kind = kind, time = e.time, lines = {} }) end
  if e.delta and e.delta ~= '' then
    m.messages[e.message or ''] = block
    text.append(block.lines, e.delta)
  else
    m.messages[e.message or ''] = nil
    block.lines = text.lines(e.text or '')
  end
  touch(m, block)
end

local kept = 200 -- lines of an output

local function output(block, e)
  if e.text and e.text ~= '' then block.output, block.before = {}, 0 end
  text.append(block.output, text.plain(e.text ~= '' and e.text or e.delta or ''))
  local over = #block.output - kept
  if over > 0 then
    block.output = vim.list_slice(block.output, over + 1, #block.output)
    block.before = block.before + over
  end
end

local function call(m, e)
  local c = e.call or {}
  local id = c.call or ''
  local block = m.calls[id]
  if not block or (e.kind == 'call.proposed' and block.over) then
    block = add(m, { kind = 'call', what = '', title = '', state = 'proposed', locations = {}, diff = {}, output = {}, before = 0 })
    m.calls[id] = block
  end
  if c.kind then block.what = c.kind end
  if c.title and c.title ~= '' then block.title = c.title end
  if c.locations and #c.locations > 0 then block.locations = c.locations end
  if c.diff and #c.diff > 0 then block.diff = c.diff end
  if e.kind == 'call.started' then
    block.state = 'running'
  elseif e.kind == 'call.decided' and c.outcome == 'deny' then
    block.state = 'denied'
  elseif e.kind == 'call.output' then
    output(block, e)
  elseif e.kind == 'call.finished' then
    block.state, block.over = c.outcome == 'completed' and 'completed' or 'failed', true
  end
  touch(m, block)
end

-- Notes that say nothing to people.
local silent = {
  ready = true, title = true, session = true, chosen = true, changes = true, session_info_update = true, available_commands_update = true, current_mode_update = true, config_option_update = true,
}

local function note(m, e)
  if e.title and e.title ~= '' then m.title = e.title end
  if e.reason == 'starting' or e.reason == 'ready' then m.starting = e.reason == 'starting' end
  if e.reason == 'failed' then
    m.starting = false
    return add(m, { kind = 'end', reason = 'failed', lines = text.lines(text.plain(e.text or '')) })
  end
  if e.text and e.text ~= '' then return add(m, { kind = 'note', lines = text.lines(e.text) }) end
  if not silent[e.reason or ''] then add(m, { kind = 'note', lines = { 'Other event: ' .. text.line(e.reason or e.kind, 100) } }) end
end

local function label(block, answer)
  for _, option in ipairs(block.options) do
    if option.id == answer then return option.label end
  end
  return answer
end

local apply = {
  ['run.start'] = function(m, e) m.agent, m.title, m.session = e.agent or '', e.title or '', e.session or '' end,
  ['step.start'] = function() end,
  text = message,
  thought = message,
  plan = function(m, e) m.plan = e.plan or {} end,
  question = function(m, e)
    m.questions[e.question] = add(m, {
      kind = 'question', id = e.question, text = e.text or '', options = e.options or {}, call = e.call, irrecoverable = e.irrecoverable,
    })
  end,
  answered = function(m, e)
    local block = m.questions[e.question or '']
    if not block then return end
    block.closed, block.answer, block.by, block.reason = true, e.answer and label(block, e.answer), e.by, e.reason
    m.questions[e.question] = nil
    touch(m, block)
  end,
  state = function(m, e) m.state, m.retryAt = e.state or m.state, e.retryAt end,
  queue = function(m, e) m.queue, m.paused = e.items or {}, e.paused or false end,
  usage = function(m, e) m.usage = e.usage end,
  note = note,
  steer = function(m, e) add(m, { kind = 'you', time = e.time, steered = true, lines = text.lines(e.text or '') }) end,
  compaction = function(m, e) add(m, { kind = 'note', lines = text.lines('Shortened its memory\n' .. (e.text or '')) }) end,
  child = function(m, e) add(m, { kind = 'note', lines = text.lines('Sub-agent ' .. (e.child or '') .. '\n' .. (e.text or '')) }) end,
  ['run.end'] = function(m, e)
    m.starting, m.ended = false, e.reason
    if e.reason ~= 'done' or (e.text or '') ~= '' then add(m, { kind = 'end', reason = e.reason or '', lines = text.lines(text.plain(e.text or '')) }) end
  end,
}

-- Takes an event in. JSON's null has been told from nothing before.
function M.apply(m, e)
  m.last = math.max(m.last, e.seq or 0)
  local kind = e.kind or ''
  if kind:sub(1, 5) == 'call.' and e.call then return call(m, e) end
  if apply[kind] then return apply[kind](m, e) end
  add(m, { kind = 'note', lines = { 'Other event: ' .. text.line(kind, 100) } })
end

return M
