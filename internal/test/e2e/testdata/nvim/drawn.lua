-- Hunks are drawn in a file while the cursor is in another window, in insert mode.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
T.start('main.go', { mode = 'review' })
local file = vim.api.nvim_get_current_buf()
vim.cmd('botright new')
local client = require('sidecar').client()
local answered, mode, drawn = false, nil, nil

local function marks()
  local drawn = vim.diagnostic.get_namespace(vim.lsp.diagnostic.get_namespace(client.id)).user_data
  return drawn.virt_text_ns and #vim.api.nvim_buf_get_extmarks(file, drawn.virt_text_ns, 0, -1, {}) or 0
end

-- Insert mode lasts as long as there is something to type: the test waits in a key.
_G.wait_in_insert_mode = function()
  mode = vim.api.nvim_get_mode().mode
  require('sidecar').ask(client, 'sidecar.tools.call', { name = 'edit_file', arguments = { path = 'main.go', search = '"you"', replace = '"world"' } }, function() answered = true end)
  vim.wait(20000, function() return answered and #vim.diagnostic.get(file) == 1 end, 5)
  drawn = marks()
  return ''
end
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('i<C-r>=v:lua.wait_in_insert_mode()<CR><Esc>', true, true, true), 'xt', false)
T.ok(answered and #vim.diagnostic.get(file) == 1, 'the hunk is a diagnostic')
T.ok(mode and mode:sub(1, 1) == 'i' or mode == 'c', 'it came in insert mode: ' .. tostring(mode))
T.ok(drawn == 1, 'it is drawn: ' .. tostring(drawn))
T.quit()
