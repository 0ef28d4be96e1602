-- A run as lines: what a block of the conversation looks like, the foot below
-- it, and the line above it.

local text = require('sidecar.agent.text')
local model = require('sidecar.agent.model')

local M = {}

local shown = 20 -- lines of a diff or an output

local glyphs = { proposed = '○', running = '◐', completed = '✓', failed = '✗', denied = '⊘' }
local plans = { completed = '✓', in_progress = '◐', failed = '✗' }

-- What only we write at the beginning of a line. A model that does is shown with
-- a backslash, so that it does not speak as the user, and asks nothing.
local ours = { '## You', '? ', '── ' }

local function guarded(line)
  for _, mark in ipairs(ours) do
    if vim.startswith(line, mark) then return '\\' .. line end
  end
  return line
end

-- A drawing is lines, the highlights of some of them by their number, and fold:
-- whether it can be folded, "open" or "closed".
local function put(d, line, group)
  table.insert(d.lines, line)
  if group then d.groups[#d.lines] = group end
end

local function put_all(d, lines, before, group)
  for _, line in ipairs(lines) do put(d, before .. line, group) end
end

-- The first lines, at most so many.
local function first(d, lines, before, group)
  put_all(d, vim.list_slice(lines, 1, shown), before, group)
  if #lines > shown then put(d, string.format('    … %d more lines', #lines - shown)) end
end

-- The last lines of an output, of which some were left out already.
local function last(d, lines, out)
  local over = math.max(0, #lines - shown)
  if over + out > 0 then put(d, string.format('    … %d lines before', over + out)) end
  put_all(d, vim.list_slice(lines, over + 1, #lines), '    ')
end

local function count(added, removed) return string.format('+%d −%d', added, removed) end

-- The body of a call: where, its diff or the end of its output. It returns the
-- lines added and removed.
local function details(d, m, c)
  local added, removed
  for _, place in ipairs(c.locations or {}) do
    put(d, '  ' .. model.path(m, place.path or '') .. (place.line and place.line > 0 and ':' .. place.line or ''), 'Directory')
  end
  for _, file in ipairs(c.diff or {}) do
    file.changed = file.changed or { text.difference(file.old, file.new or '') }
    local minus, plus = unpack(file.changed)
    added, removed = (added or 0) + #plus, (removed or 0) + #minus
    if #(c.locations or {}) == 0 or #c.diff > 1 then put(d, '  ' .. model.path(m, file.path or ''), 'Directory') end
    first(d, minus, '    -', 'SidecarAgentRemoved')
    first(d, plus, '    +', 'SidecarAgentAdded')
  end
  return added, removed
end

local draws = {}

function draws.you(d, _, b)
  put(d, '## You · ' .. (b.time or ''):sub(12, 16) .. (b.steered and ' · while it worked' or ''), 'SidecarAgentYou')
  put_all(d, vim.tbl_map(guarded, text.trimmed(b.lines)), '')
end

function draws.text(d, _, b) put_all(d, vim.tbl_map(guarded, text.trimmed(b.lines)), '') end

function draws.thought(d, _, b)
  put(d, '∴ Thought', 'Comment')
  put_all(d, text.trimmed(b.lines), '> ', 'Comment')
  d.fold = 'closed'
end

function draws.call(d, m, b)
  put(d, '', b.state == 'failed' and 'ErrorMsg' or 'Function')
  local head = #d.lines
  local added, removed = details(d, m, b)
  last(d, text.trimmed(b.output), b.before)
  local title = text.line(b.title ~= '' and b.title or b.what, 200)
  d.lines[head] = glyphs[b.state] .. ' ' .. (b.what == 'execute' and '$ ' or '') .. title .. (added and ' ' .. count(added, removed) or '')
    .. (b.state == 'denied' and ' · denied' or b.state == 'failed' and ' · failed' or '')
  if #d.lines > head then d.fold = b.state == 'completed' and 'closed' or 'open' end
end

-- The options of a question with their keys: a, s, d for what their kinds say,
-- else numbers.
function M.keys(b)
  local by, keys = { allow_once = 'a', allow_always = 's', reject_once = 'd' }, {}
  for i, option in ipairs(b.options) do
    local key = by[option.kind or '']
    if key then by[option.kind] = nil end
    keys[i] = key or tostring(i)
  end
  return keys
end

-- The option that says no, if there is one.
function M.denial(b)
  for _, option in ipairs(b.options) do
    if option.kind == 'reject_once' then return option end
  end
end

function draws.question(d, m, b)
  local lines = text.trimmed(text.lines(b.text))
  local head = lines[1] or ''
  if b.closed then
    local said = b.answer and text.line(b.answer, 100) .. (b.by and ' (' .. text.line(b.by, 40) .. ')' or '') or 'not answered: ' .. text.line(b.reason or '', 100)
    return put(d, (b.answer and '✓ ' or '○ ') .. text.line(head, 200) .. ' · ' .. said, 'Comment')
  end
  put(d, '? ' .. head, 'SidecarAgentQuestion')
  local keys, offers = M.keys(b), {}
  for i, option in ipairs(b.options) do table.insert(offers, '[' .. keys[i] .. '] ' .. text.line(option.label, 80)) end
  if M.denial(b) then table.insert(offers, '[r] Deny with Reason') end
  if #b.options == 0 then table.insert(offers, '[a] Answer') end
  put(d, '  ' .. table.concat(offers, '  '), 'SidecarAgentQuestion')
  if text.hides(b.text) then put(d, '  ⚠ It has characters that can\'t be seen, written as ‹U+…›', 'WarningMsg') end
  put_all(d, vim.list_slice(lines, 2, #lines), '  ')
  if b.call then details(d, m, b.call) end
end

function draws.note(d, _, b)
  local lines = text.trimmed(b.lines)
  put(d, '· ' .. (lines[1] or ''), 'Comment')
  put_all(d, vim.list_slice(lines, 2, #lines), '  ', 'Comment')
end

local ends = { interrupted = '■ Interrupted', failed = '✗ Failed', budget = '■ Its budget is used up', loop = '■ Stopped: it repeated itself', refused = '■ It refused', done = '✓ Done' }

draws['end'] = function(d, _, b)
  put(d, ends[b.reason] or '■ ' .. text.line(b.reason, 40), b.reason == 'failed' and 'ErrorMsg' or 'Comment')
  put_all(d, text.trimmed(b.lines), '  ')
end

local compact = { thought = true, call = true, note = true }

-- Draws a block that comes after another one, or nil.
function M.block(m, b, before)
  local d = { lines = {}, groups = {} }
  if before and not (compact[b.kind] and compact[before.kind]) then put(d, '') end
  draws[b.kind](d, m, b)
  return d
end

local letters = { create = 'A', modify = 'M', delete = 'D', rename = 'R' }
local states = { idle = '● Ready', running = '◐ Working', waiting = '? Needs you', paused = '‖ Paused', ended = '✓ Ended' }

-- The state in words. `down`: the server is not there.
function M.state(m, down)
  if down then return '⊘ The server has ended' end
  if m.state ~= 'waiting' and m.starting then return '◌ Starting…' end
  if m.retryAt then return '◷ Waiting for model' end
  return states[m.state] or text.line(m.state, 40)
end

-- The foot: plan, files that wait for review, prompts that wait, and the state,
-- which is always the last line. refs has what each line is about.
function M.foot(m, files, down)
  local d, refs = { lines = {}, groups = {} }, {}
  put(d, '')
  if #m.plan > 0 then
    local done, now = 0, nil
    for _, step in ipairs(m.plan) do
      if step.status == 'completed' then done = done + 1 end
      if step.status == 'in_progress' then now = now or step.text end
    end
    put(d, string.format('── Plan %d/%d', done, #m.plan) .. (now and ' · ' .. text.line(now, 80) or ''), 'SidecarAgentFoot')
    for _, step in ipairs(m.plan) do put(d, '   ' .. (plans[step.status] or '○') .. ' ' .. text.line(step.text, 200)) end
  end
  if #files > 0 then
    local added, removed = 0, 0
    for _, f in ipairs(files) do added, removed = added + f.added, removed + f.removed end
    put(d, string.format('── %d %s %s to review', #files, #files == 1 and 'file' or 'files', count(added, removed)), 'SidecarAgentFoot')
    for _, f in ipairs(files) do
      put(d, string.format('   %s %s %s', letters[f.kind] or '?', text.line(f.path, 200), count(f.added, f.removed)) .. (f.state == 'conflict' and ' · conflict' or ''))
      refs[#d.lines] = { file = f }
    end
  end
  if #m.queue > 0 then
    put(d, string.format('── %d queued', #m.queue) .. (m.paused and ' · paused' or ''), 'SidecarAgentFoot')
    for i, item in ipairs(m.queue) do
      put(d, string.format('   %d. %s', i, text.line(item.text, 200)))
      refs[#d.lines] = { item = item }
    end
  end
  put(d, '── ' .. M.state(m, down), 'SidecarAgentFoot')
  d.refs = refs
  return d
end

-- The line above: agent, mode, state and usage, as they were told.
function M.head(m, mode, down)
  local parts = { text.line(m.agent, 40) }
  if mode and mode ~= '' then table.insert(parts, mode) end
  table.insert(parts, M.state(m, down))
  local u = m.usage
  if u and (u.size or 0) > 0 then table.insert(parts, string.format('%d %%', math.floor(100 * (u.used or 0) / u.size))) end
  if u and (u.cost or 0) > 0 then table.insert(parts, string.format('%.2f %s', u.cost, text.line(u.currency or '', 8))) end
  local title = text.line(m.title, 60)
  return (title ~= parts[1] and title .. '  ' or '') .. table.concat(parts, ' · ')
end

return M
