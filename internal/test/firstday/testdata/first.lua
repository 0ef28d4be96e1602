-- A user's first minute in Neovim, after the configuration of its page.
local sidecar = require('sidecar')
local function ok(cond, text)
  io.stdout:write((cond and 'ok - ' or 'not ok - ') .. text .. '\n')
  if not cond then vim.cmd('cquit 1') end
end
local function await(cond, text) ok(vim.wait(20000, cond, 5), text) end
local function execute(command, argument)
  local done, result
  sidecar.execute(command, argument, function(r) done, result = true, r end)
  await(function() return done end, command .. ' is answered')
  return result
end
local function line() return vim.api.nvim_buf_get_lines(0, 2, 3, false)[1] end

vim.cmd('edit shop.go')
await(function()
  local c = sidecar.client(vim.api.nvim_get_current_buf())
  return c and c.initialized
end, 'the server runs')
execute('sidecar.mode.set', { mode = 'review' })
local before = line()
local edited = execute('sidecar.tools.call', { name = 'edit_file', arguments = { path = 'shop.go', search = 'return 10', replace = 'return 12' } })
ok(edited.ok and edited.content:find('Held for review', 1, true), 'the agent is told that the edit waits')
await(function() return #vim.diagnostic.get(0) == 1 end, 'the hunk is shown')
ok(line() == before, 'the buffer is as it was')
vim.cmd('SidecarAcceptAll')
await(function() return line():find('return 12', 1, true) end, 'the hunk is in the buffer')
vim.cmd('SidecarUndo')
await(function() return line() == before end, 'undo takes it back')
await(function() return #vim.diagnostic.get(0) == 1 end, 'and it is pending again')
for _, c in pairs(vim.lsp.get_active_clients()) do c.stop() end
await(function() return #vim.lsp.get_active_clients() == 0 end, 'the server has left')
vim.cmd('qa!')
