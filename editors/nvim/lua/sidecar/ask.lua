-- Questions of the server (window/showMessageRequest), with room for a diff:
-- the text in a window of its own that can be scrolled, the answers by key.
-- Neovim's own way prints the text into the command line, where the beginning
-- of a long one is out of sight when the answer is due.

local M = {}

-- A key for each action: the first letter of its first word, else of its last
-- one, else its number. Allow is a, Allow for session is s, Deny is d.
local function keys_of(actions)
  local keys, taken = {}, { j = true, k = true, q = true }
  for i, action in ipairs(actions) do
    local words = vim.split(action.title:lower(), '%W+', { trimempty = true })
    for _, key in ipairs({ (words[1] or ''):sub(1, 1), (words[#words] or ''):sub(1, 1), tostring(i) }) do
      if not keys[i] and key ~= '' and not taken[key] then keys[i], taken[key] = key, true end
    end
  end
  return keys
end

-- Opens lines in a floating window, without going there.
local function open(lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].syntax, vim.bo[buf].tabstop = 'wipe', 'diff', 4
  local width = 40
  for _, line in ipairs(lines) do width = math.max(width, vim.fn.strdisplaywidth(line) + 2) end
  width = math.min(width, math.max(vim.o.columns - 4, 20))
  local height = math.min(#lines, math.max(vim.o.lines - 6, 3))
  local win = vim.api.nvim_open_win(buf, false, {
    relative = 'editor', style = 'minimal', border = 'rounded', focusable = false, zindex = 200,
    width = width, height = height, row = math.max(math.floor((vim.o.lines - height) / 2) - 2, 0), col = math.floor((vim.o.columns - width) / 2),
  })
  vim.wo[win].wrap = true
  return win
end

-- What scrolls the text: the key that is typed, as getcharstr gives it, and the
-- one that does it.
local function scrolls()
  local by = {}
  for key, does in pairs({
    j = '<C-e>', k = '<C-y>', ['<Down>'] = '<C-e>', ['<Up>'] = '<C-y>',
    ['<Space>'] = '<C-d>', ['<C-d>'] = '<C-d>', ['<C-u>'] = '<C-u>', ['<PageDown>'] = '<C-d>', ['<PageUp>'] = '<C-u>',
  }) do
    by[vim.api.nvim_replace_termcodes(key, true, true, true)] = vim.api.nvim_replace_termcodes(does, true, true, true)
  end
  return by
end

local function prompt(actions, keys, chosen)
  local chunks = { { 'sidecar asks: ', 'Question' } }
  for i, action in ipairs(actions) do
    table.insert(chunks, { ' ' .. keys[i] .. ' ' .. action.title .. ' ', i == chosen and 'IncSearch' or 'None' })
  end
  local rest = chosen and '  Enter to confirm' or '  j k scroll, Esc leaves it unanswered'
  table.insert(chunks, { rest, 'Comment' })
  vim.cmd('redraw')
  vim.api.nvim_echo(chunks, false, {})
end

-- Asks and returns the index of the action, or nil. An answer takes two keys,
-- so that somebody who is typing when the question comes does not answer it.
local function choose(win, actions)
  local keys, scroll, chosen = keys_of(actions), scrolls(), nil
  while vim.fn.getchar(0) ~= 0 do end -- typed before the question was seen
  while true do
    prompt(actions, keys, chosen)
    local ok, char = pcall(vim.fn.getcharstr)
    if not ok then return nil end -- interrupted
    if char == '\27' or char == '\3' or char == 'q' then return nil end
    if char == '\r' then
      if chosen then return chosen end
    elseif scroll[char] then
      vim.api.nvim_win_call(win, function() vim.cmd('normal! ' .. scroll[char]) end)
    else
      chosen = nil
      for i, k in pairs(keys) do
        if char:lower() == k then chosen = i end
      end
    end
  end
end

local asking, withdrawn = 0, false

-- The handler. Without a screen nobody can answer, which is no answer.
function M.handler(_, params)
  local actions = params.actions or {}
  if #actions == 0 or #vim.api.nvim_list_uis() == 0 then return vim.NIL end
  asking, withdrawn = asking + 1, false
  local win = open(vim.split(vim.trim(params.message), '\n'))
  local ok, index = pcall(choose, win, actions)
  pcall(vim.api.nvim_win_close, win, true)
  asking = asking - 1
  local said = ok and index and actions[index].title or withdrawn and 'the question has expired' or 'not answered'
  vim.api.nvim_echo({ { 'sidecar: ' .. said } }, false, {})
  if not ok then vim.notify('sidecar: ' .. tostring(index), vim.log.levels.ERROR) end
  return ok and index and actions[index] or vim.NIL
end

-- The handler of $/cancelRequest: the server does not wait for the answer any
-- more. Which question it means is not told to handlers, so with several open
-- they all stay.
function M.withdraw()
  if asking ~= 1 then return end
  withdrawn = true
  vim.api.nvim_input('<Esc>')
end

return M
