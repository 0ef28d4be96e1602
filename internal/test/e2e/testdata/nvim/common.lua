-- What both halves of the Neovim test share. The editor is configured exactly
-- as editors/nvim/README.md tells a user to.
local T = {}
local sidecar = require('sidecar')

function T.say(text) io.stdout:write(text .. '\n') end

function T.fail(text)
  T.say('not ok - ' .. text)
  T.say(vim.inspect(vim.v.errors) .. ' ' .. (vim.v.errmsg or ''))
  vim.cmd('cquit 1')
end

function T.ok(cond, text)
  if not cond then T.fail(text) end
  T.say('ok - ' .. text)
end

-- Processes events until cond holds.
function T.await(cond, text)
  if not vim.wait(20000, cond, 5) then T.fail('waiting for ' .. text) end
  T.say('ok - ' .. text)
end

function T.execute(command, argument)
  local done, result
  sidecar.execute(command, argument, function(r) done, result = true, r end)
  if not vim.wait(20000, function() return done end, 2) then T.fail('no answer to ' .. command) end
  return result
end

function T.call(tool, arguments) return T.execute('sidecar.tools.call', { name = tool, arguments = arguments }) end

function T.pending() return T.execute('sidecar.review.list').edits end

function T.hunks()
  local edits = T.pending()
  return edits[1] and edits[1].hunks or {}
end

function T.line(n) return vim.api.nvim_buf_get_lines(0, n - 1, n, false)[1] end

function T.start(file, settings)
  sidecar.setup({ settings = settings, cmd = { vim.env.SIDECAR_LS, 'serve', '--log-file', vim.env.SIDECAR_LOG } })
  vim.cmd('edit ' .. file)
  T.await(function()
    local c = sidecar.client(vim.api.nvim_get_current_buf())
    return c and c.initialized
  end, 'the server runs')
end

function T.quit()
  for _, c in pairs(vim.lsp.get_active_clients()) do c.stop() end
  T.await(function() return #vim.lsp.get_active_clients() == 0 end, 'the server has left')
  T.say('done')
  vim.cmd('qa!')
end

return T
