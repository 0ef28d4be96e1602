-- The third run: edits that ask, answered in the window of the configuration.
-- The keys of a person are given out one by one; there is no screen.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
T.start('main.go')
vim.api.nvim_list_uis = function() return { {} } end

local shown
local function answer(keys)
  local left, open = keys, vim.api.nvim_open_win
  vim.fn.getcharstr = function()
    if left == '' then T.fail('the question still waits after ' .. vim.inspect(keys)) end
    local key = left:sub(1, 1)
    left = left:sub(2)
    return key
  end
  vim.api.nvim_open_win = function(buf, ...)
    shown = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
    return open(buf, ...)
  end
  local result = T.call('write_file', { path = 'notes.txt', content = 'a note\n' })
  vim.api.nvim_open_win = open
  return result
end

local denied = answer('d\r')
T.ok(denied.error.code == 'not_approved', 'denied: ' .. denied.content)
T.ok(shown:find('+a note', 1, true), 'the question shows the diff')
T.ok(answer('\27').error.code == 'not_approved', 'left with Esc')
T.ok(answer('jxq').error.code == 'not_approved', 'scrolled, a wrong key, left with q')
T.ok(vim.fn.filereadable('notes.txt') == 0, 'nothing was written')
local allowed = answer('da\r')
T.ok(allowed.ok, 'allowed, after a change of mind')
T.ok(vim.fn.readfile('notes.txt')[1] == 'a note', 'and written')
T.quit()
