-- The buffer of a run: its lines, folds, header and keys. The text is drawn in
-- batches; the cursor follows it only where it stood at the end.

local model = require('sidecar.agent.model')
local draw = require('sidecar.agent.draw')
local sidecar = require('sidecar')

local M = {}

local batch = 33 -- milliseconds
local ns = vim.api.nvim_create_namespace('sidecar.agent')

local View = {}
View.__index = View

local views = {} -- by run
local of_buffer = {} -- by buffer
local latest -- the view that was entered last

for name, link in pairs({ You = 'Title', Question = 'WarningMsg', Foot = 'Title', Added = 'DiffAdd', Removed = 'DiffDelete' }) do
  vim.api.nvim_set_hl(0, 'SidecarAgent' .. name, { link = link, default = true })
end

-- The view of a run; that of the conversation or prompt in the window; all.
function M.of(run) return views[run] end
function M.here() return of_buffer[vim.api.nvim_get_current_buf()] end
function M.all() return views end
function M.latest() return latest and views[latest.run] end
function M.claim(buf, view) of_buffer[buf] = view end

-- The windows that show the buffer.
function View:windows() return vim.fn.win_findbuf(self.buf) end

-- The line that block i begins at, counted from 0.
local function start_of(view, i)
  local at = 0
  for k = 1, i - 1 do at = at + (view.heights[k] or 0) end
  return at
end

-- What is at a line, counted from 1: a block and the offset in it, or the
-- foot's line.
function View:at(line)
  local at = 0
  for i, height in ipairs(self.heights) do
    if line <= at + height then return self.model.blocks[i], line - at end
    at = at + height
  end
  return nil, line - at
end

-- The question at the cursor that is open.
function View:question()
  local block = self:at(vim.api.nvim_win_get_cursor(0)[1])
  return block and block.kind == 'question' and not block.closed and block or nil
end

-- What the foot's line at the cursor is about: a file, or a prompt that waits.
function View:ref()
  local block, offset = self:at(vim.api.nvim_win_get_cursor(0)[1])
  return not block and self.refs[offset] or {}
end

-- The fold level of a line, as 'foldexpr' wants it. Folds of the level 2 are
-- closed to begin with.
function M.fold(line)
  local view = of_buffer[vim.api.nvim_get_current_buf()]
  return view and view.levels[line] or '0'
end

function M.foldtext()
  return vim.fn.getline(vim.v.foldstart) .. string.format('  (%d lines)', vim.v.foldend - vim.v.foldstart)
end

-- Where the cursors stand, by window: at the end, or in which block.
local function cursors(view)
  local all, last = {}, vim.api.nvim_buf_line_count(view.buf)
  for _, win in ipairs(view:windows()) do
    local pos = vim.api.nvim_win_get_cursor(win)
    local block, offset = view:at(pos[1])
    all[win] = { last = pos[1] == last, block = block and block.index, offset = offset, col = pos[2] }
  end
  return all
end

local function restore(view, all)
  local last = vim.api.nvim_buf_line_count(view.buf)
  for win, at in pairs(all) do
    local line = last
    if at.block then
      line = start_of(view, at.block) + math.max(1, math.min(at.offset, view.heights[at.block] or 1))
    elseif not at.last then
      line = start_of(view, #view.heights + 1) + at.offset
    end
    pcall(vim.api.nvim_win_set_cursor, win, { math.min(line, last), at.col })
  end
end

-- Draws what has changed. The lines that stay are not touched, so that folds
-- made by hand stay, too.
function View:draw()
  self.drawing = false
  if not vim.api.nvim_buf_is_loaded(self.buf) then return end
  local m, where = self.model, cursors(self)
  local first = math.min(m.from or #m.blocks + 1, #self.heights + 1)
  local from, lines, groups, levels = start_of(self, first), {}, {}, {}
  local folded_from, folded_to -- lines whose folds are others now
  for i = first, #m.blocks do
    local b = m.blocks[i]
    if not b.drawn or i <= (m.to or 0) then
      local fold = b.drawn and b.drawn.fold
      b.drawn = draw.block(m, b, m.blocks[i - 1])
      if b.drawn.fold ~= fold then
        folded_from = folded_from or #lines
        folded_to = #lines + #b.drawn.lines
      end
    end
    local level, head = b.drawn.fold == 'closed' and '2' or b.drawn.fold == 'open' and '1' or '0', true
    for k, line in ipairs(b.drawn.lines) do
      table.insert(lines, line)
      groups[#lines] = b.drawn.groups[k]
      local gap = head and line == ''
      table.insert(levels, (level == '0' or gap) and '0' or head and '>' .. level or level)
      if not gap then head = false end
    end
    self.heights[i] = #b.drawn.lines
  end
  for i = #m.blocks + 1, #self.heights do self.heights[i] = nil end
  m.from, m.to = nil, nil
  local foot = draw.foot(m, self.files, self.down)
  self.refs = foot.refs
  for k, line in ipairs(foot.lines) do
    table.insert(lines, line)
    groups[#lines] = foot.groups[k]
    table.insert(levels, '0')
  end

  local old = vim.api.nvim_buf_get_lines(self.buf, from, -1, false)
  local same, tail = 0, 0
  while same < math.min(#old, #lines, folded_from or #lines) and old[same + 1] == lines[same + 1] do same = same + 1 end
  while tail < math.min(#old, #lines, #lines - (folded_to or 0)) - same and old[#old - tail] == lines[#lines - tail] do tail = tail + 1 end
  self.levels = vim.list_slice(self.levels, 1, from)
  vim.list_extend(self.levels, levels)
  if same < #lines - tail or same < #old - tail then
    vim.bo[self.buf].modifiable = true
    vim.api.nvim_buf_set_lines(self.buf, from + same, from + #old - tail, false, vim.list_slice(lines, same + 1, #lines - tail))
    vim.bo[self.buf].modifiable, vim.bo[self.buf].modified = false, false
  end
  vim.api.nvim_buf_clear_namespace(self.buf, ns, from + same, from + #lines - tail)
  for i = same + 1, #lines - tail do
    if groups[i] then vim.api.nvim_buf_add_highlight(self.buf, ns, groups[i], from + i - 1, 0, -1) end
  end
  restore(self, where)
  self:header()
end

function View:schedule()
  if self.drawing then return end
  self.drawing = true
  vim.defer_fn(function() self:draw() end, batch)
end

-- The line above the text; before Neovim 0.8 the one below.
function View:header()
  local text = (' ' .. draw.head(self.model, self.mode, self.down) .. '  g? keys'):gsub('%%', '%%%%')
  local option = vim.fn.exists('+winbar') == 1 and 'winbar' or 'statusline'
  for _, win in ipairs(self:windows()) do vim.wo[win][option] = text end
end

-- Shows the buffer in the window, as it is to be read.
local function dress(view)
  for name, value in pairs({
    foldmethod = 'expr', foldexpr = "v:lua.require'sidecar.agent.view'.fold(v:lnum)", foldtext = "v:lua.require'sidecar.agent.view'.foldtext()",
    foldlevel = 1, foldenable = true, wrap = true, linebreak = true, number = false, relativenumber = false, spell = false, conceallevel = 0,
  }) do
    vim.wo[name] = value
  end
  view:header()
end

-- The file of that name, if it is one below the root. No link of a model's leads
-- anywhere else.
function View:file(name)
  if name == '' or name:find('^%a[%w+.-]+:') then return end
  if name:sub(1, 1) ~= '/' then name = self.root .. '/' .. name end
  local real, root = vim.loop.fs_realpath(name), vim.loop.fs_realpath(self.root)
  if real and root and vim.startswith(real, root .. '/') and vim.fn.filereadable(real) == 1 then return name end
end

-- The file that is named at the cursor, and its line.
function View:path()
  local word = vim.fn.expand('<cWORD>')
  for _, name in ipairs({ word, vim.fn.expand('<cfile>'), (word:gsub('^[^%w./_-]+', ''):gsub('[^%w/_-]+$', '')) }) do
    name = name:gsub('^@', '')
    local bare, line = name:match('^(.-):(%d+)')
    local file = self:file(bare or name)
    if file then return file, tonumber(line) end
  end
end

function View:open_path()
  local ref = self:ref()
  local path, line = ref.file and vim.uri_to_fname(ref.file.uri), nil
  if not path then path, line = self:path() end
  if not path then return vim.notify('sidecar: no file of the project is named here') end
  vim.cmd('split ' .. vim.fn.fnameescape(path))
  if line then vim.api.nvim_win_set_cursor(0, { math.min(line, vim.api.nvim_buf_line_count(0)), 0 }) end
end

-- To the next message of the user's, or the one before.
function View:jump(step)
  local i = vim.api.nvim_win_get_cursor(0)[1] + step
  while i >= 1 and i <= vim.api.nvim_buf_line_count(self.buf) do
    local block, offset = self:at(i)
    if block and block.kind == 'you' and offset <= 2 and vim.startswith(block.drawn.lines[offset], '## You') then
      return vim.api.nvim_win_set_cursor(0, { i, 0 })
    end
    i = i + step
  end
end

-- Keys that act on a question, and only there; elsewhere they are Neovim's.
local function question_keys(view)
  local agent = require('sidecar.agent')
  local function map(key, f)
    vim.keymap.set('n', key, function()
      local question = view:question()
      if not question then return key end
      vim.schedule(function() f(question) end)
      return '<Ignore>'
    end, { buffer = view.buf, expr = true, desc = 'sidecar: answer the question here' })
  end
  for _, key in ipairs({ 'a', 's', 'd', '1', '2', '3', '4', '5', '6', '7', '8', '9' }) do
    map(key, function(question) agent.answer_key(view, question, key) end)
  end
  map('r', function(question) agent.deny_with_reason(view, question) end)
end

local function keys(view)
  local agent = require('sidecar.agent')
  local function map(key, what, f) vim.keymap.set('n', key, f, { buffer = view.buf, desc = 'sidecar: ' .. what }) end
  question_keys(view)
  map('i', 'write to the agent', function() require('sidecar.agent.prompt').open(view) end)
  map('gr', 'review what it changed', function() sidecar.review(view.model.session) end)
  map('ga', 'choose another run', agent.runs)
  map('gd', 'open the file here', function() view:open_path() end)
  map('<CR>', 'answer the question, or open the file here', function()
    local question = view:question()
    if question then agent.choose(view, question) else view:open_path() end
  end)
  map('e', 'edit the queued prompt here', function() agent.edit_queued(view, view:ref().item) end)
  map('x', 'withdraw the queued prompt here', function() agent.withdraw(view, view:ref().item) end)
  map(']m', 'next message of yours', function() view:jump(1) end)
  map('[m', 'previous message of yours', function() view:jump(-1) end)
  map('<C-c>', 'stop the agent', function() agent.stop(view) end)
  map('g?', 'show the keys', function() vim.cmd('nmap <buffer>') end)
end

-- Makes the buffer that is named after a run the view of it.
function M.make(run, client, buf)
  local view = setmetatable({
    run = run, client = client.id, root = client.config.root_dir, buf = buf, model = model.new(run, client.config.root_dir),
    heights = {}, levels = {}, files = {}, refs = {},
  }, View)
  views[run], of_buffer[buf] = view, view
  vim.bo[buf].buftype, vim.bo[buf].swapfile, vim.bo[buf].bufhidden = 'nofile', false, 'hide'
  vim.bo[buf].filetype, vim.bo[buf].syntax, vim.bo[buf].undolevels = 'sidecar_agent', 'markdown', -1
  keys(view)
  local function on(events, f) vim.api.nvim_create_autocmd(events, { buffer = buf, callback = f }) end
  on('BufWinEnter', function() dress(view) end)
  on('BufEnter', function() latest = view end)
  on('BufUnload', function() view.heights, view.levels = {}, {} end)
  on('BufWipeout', function()
    views[run], of_buffer[buf] = nil, nil
    if view.prompt then pcall(vim.api.nvim_buf_delete, view.prompt, { force = true }) end
  end)
  latest = view
  return view
end

return M
