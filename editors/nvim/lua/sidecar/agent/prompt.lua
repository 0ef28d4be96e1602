-- The window below a conversation in which people write to the agent. What is
-- sent along is named in the text: @file, @file:3-9, @diagnostics:file.

local text = require('sidecar.agent.text')
local view = require('sidecar.agent.view')
local feed = require('sidecar.agent.feed')

local M = {}

local height = 5

local function content(v) return table.concat(vim.api.nvim_buf_get_lines(v.prompt, 0, -1, false), '\n') end

local function clear(v)
  v.editing = nil
  vim.api.nvim_buf_set_lines(v.prompt, 0, -1, false, {})
end

-- The path below the root, as it is named in a prompt.
local function name_of(v, path)
  if vim.startswith(path, v.root .. '/') then path = path:sub(#v.root + 2) end
  return path:find('[^%w%._/%-]') and '<' .. path .. '>' or path
end

local function lines_of(path, first, last)
  local buf = vim.fn.bufadd(path)
  local lines = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_lines(buf, 0, -1, false) or vim.fn.readfile(path)
  return vim.list_slice(lines, first, math.min(last, #lines))
end

local severities = { 'error', 'warning', 'information', 'hint' }

local function diagnostics(v, path)
  local lines, buf = {}, vim.fn.bufadd(path)
  for _, d in ipairs(vim.diagnostic.get(buf)) do
    if d.source ~= 'sidecar' then table.insert(lines, string.format('%s:%d:%d: %s: %s', name_of(v, path), d.lnum + 1, d.col + 1, severities[d.severity], d.message)) end
  end
  return { kind = 'diagnostics', uri = vim.uri_from_fname(path), text = #lines > 0 and table.concat(lines, '\n') or 'There are none.' }
end

-- What the text names: files of the project, lines of them, and diagnostics. A
-- name with spaces is in <>.
function M.attachments(v, prompt)
  local all, seen = {}, {}
  local function attach(word)
    local about, rest = word:match('^(diagnostics:)(.+)$')
    local name, first, last = (rest or word):match('^(.-):(%d+)%-?(%d*)$')
    local path = v:file(name or rest or word)
    if not path or seen[word] then return path end
    seen[word] = true
    local uri = vim.uri_from_fname(path)
    if about then
      table.insert(all, diagnostics(v, path))
    elseif first then
      first, last = tonumber(first), tonumber(last ~= '' and last or first)
      local range = { start = { line = first - 1, character = 0 }, ['end'] = { line = last, character = 0 } }
      table.insert(all, { kind = 'range', uri = uri, range = range, text = table.concat(lines_of(path, first, last), '\n') })
    else
      table.insert(all, { kind = 'file', uri = uri })
    end
    return path
  end
  for about, path, lines in prompt:gmatch('@(%a*:?)<([^>\n]+)>([:%d-]*)') do attach(about .. path .. lines) end
  for word in prompt:gmatch('@([^%s<]+)') do
    local _ = attach(word) or attach((word:gsub('[%.,;:!?%)]+$', '')))
  end
  return all
end

-- Sends what is written: "queue", "steer" or "interrupt". It stays until the
-- server has it.
function M.send(v, when)
  local prompt = content(v)
  if vim.trim(prompt) == '' then return vim.notify('sidecar: write something first') end
  local command, argument = 'sidecar.agent.prompt', { run = v.run, text = prompt, attachments = M.attachments(v, prompt), when = when }
  if v.editing then command, argument = 'sidecar.agent.edit', { run = v.run, item = v.editing, text = prompt } end
  feed.ask(v, command, argument, function()
    if vim.api.nvim_buf_is_loaded(v.prompt) and content(v) == prompt then clear(v) end
  end)
end

-- Completes the path behind an @, for 'omnifunc'.
function M.complete(findstart, base)
  local v = view.here()
  if findstart == 1 then
    local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    local at = before:find('@[^%s@]*$')
    return at or -3
  end
  local paths = {}
  for _, path in ipairs(vim.fn.glob(v.root .. '/' .. vim.fn.escape(base, '*?[]{}\\$`') .. '*', false, true)) do
    table.insert(paths, path:sub(#v.root + 2) .. (vim.fn.isdirectory(path) == 1 and '/' or ''))
  end
  return paths
end

local function make(v)
  v.prompt = vim.api.nvim_create_buf(false, true)
  view.claim(v.prompt, v)
  vim.api.nvim_buf_set_name(v.prompt, 'sidecar://agent/' .. v.run .. '/prompt')
  vim.bo[v.prompt].bufhidden, vim.bo[v.prompt].filetype = 'hide', 'sidecar_prompt'
  vim.bo[v.prompt].omnifunc = "v:lua.require'sidecar.agent.prompt'.complete"
  local function map(modes, key, what, f) vim.keymap.set(modes, key, f, { buffer = v.prompt, desc = 'sidecar: ' .. what }) end
  map({ 'n', 'i' }, '<C-s>', 'send', function() M.send(v, 'queue') end)
  map({ 'n', 'i' }, '<C-CR>', 'steer', function() M.send(v, 'steer') end)
  map('n', '<C-c>', 'stop the agent', function() require('sidecar.agent').stop(v) end)
end

-- Shows the window, and goes there.
local function show(v)
  if not (v.prompt and vim.api.nvim_buf_is_valid(v.prompt)) then make(v) end
  local win = vim.fn.bufwinid(v.prompt)
  if win ~= -1 then return vim.api.nvim_set_current_win(win) end
  local conversation = vim.fn.bufwinid(v.buf)
  if conversation ~= -1 then vim.api.nvim_set_current_win(conversation) end
  vim.cmd(string.format('belowright %dsplit', height))
  vim.api.nvim_win_set_buf(0, v.prompt)
  vim.wo.winfixheight, vim.wo.number, vim.wo.relativenumber, vim.wo.foldenable = true, false, false, false
  vim.wo[vim.fn.exists('+winbar') == 1 and 'winbar' or 'statusline'] = ' To ' .. text.line(v.model.agent, 40):gsub('%%', '%%%%') .. '  <C-s> send  <C-CR> steer  <C-c> stop'
end

-- Shows the window, and goes there to type.
function M.open(v)
  show(v)
  vim.cmd('startinsert!')
end

-- Writes before all that is in the prompt.
function M.begin_with(v, words)
  M.open(v)
  local first = vim.api.nvim_buf_get_lines(v.prompt, 0, 1, false)[1] or ''
  vim.api.nvim_buf_set_lines(v.prompt, 0, 1, false, { words .. first })
  local last = vim.api.nvim_buf_get_lines(v.prompt, -2, -1, false)[1]
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(v.prompt), #last })
end

-- Writes into the prompt.
function M.add(v, words)
  M.open(v)
  local last = vim.api.nvim_buf_get_lines(v.prompt, -2, -1, false)[1] or ''
  local line = last .. ((last == '' or vim.endswith(last, ' ')) and '' or ' ') .. words .. ' '
  vim.api.nvim_buf_set_lines(v.prompt, -2, -1, false, { line })
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(v.prompt), #line })
end

-- Names the buffer's file, lines of it, or its diagnostics in the prompt.
function M.attach(v, buf, first, last)
  local name = vim.api.nvim_buf_get_name(buf)
  if vim.bo[buf].buftype ~= '' or name == '' then return vim.notify('sidecar: this buffer has no file', vim.log.levels.WARN) end
  M.add(v, '@' .. name_of(v, name) .. (first and ':' .. first .. '-' .. last or ''))
end

function M.attach_diagnostics(v, buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if name == '' then return vim.notify('sidecar: this buffer has no file', vim.log.levels.WARN) end
  M.add(v, '@diagnostics:' .. name_of(v, name))
end

-- Puts a prompt that waits into the window; sending it changes it.
function M.edit(v, item)
  M.open(v)
  if vim.trim(content(v)) ~= '' then return vim.notify('sidecar: send or delete what is written first', vim.log.levels.WARN) end
  vim.api.nvim_buf_set_lines(v.prompt, 0, -1, false, vim.split(item.text, '\n', { plain = true }))
  v.editing = item.item
end

return M
