-- A new user's way to the first reviewed edit: the commands they type and the questions
-- they answer are counted, and the seconds printed.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
local view = require('sidecar.agent.view')

local commands, questions = 0, {}
local function command(text)
  commands = commands + 1
  vim.cmd(text)
end
local choices = { 'scripted', 'Start' }
vim.ui.select = function(items, opts, on_choice)
  local wanted = table.remove(choices, 1)
  for i, item in ipairs(items) do
    local text = (opts.format_item or tostring)(item)
    if vim.startswith(text, wanted) then
      if wanted == 'Start' then table.insert(questions, opts.prompt or text) end -- the agent is what the command is about
      return on_choice(item, i)
    end
  end
  T.fail('there is no ' .. wanted)
end
local function disk() return table.concat(vim.fn.readfile('a.txt'), '\n') end

T.start('a.txt')
local begun = vim.loop.hrtime()
command('SidecarAgent')
T.await(function() return view.latest() and view.latest().prompt end, 'a conversation is open')
require('sidecar.agent.prompt').open(view.latest())
vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'write a.txt ONE\\n' })
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('<C-s>', true, true, true), 'xt', false)
T.await(function() return #T.hunks() > 0 end, 'the edit waits')
T.ok(disk() == 'one\ntwo', 'before it is accepted the file is as it was')
command('SidecarAcceptAll')
T.await(function() return #T.hunks() == 0 end, 'the edit is accepted')
vim.cmd('silent! wall') -- an open file's edit is in its buffer
T.await(function() return disk() == 'ONE' end, 'the file has it')
local took = (vim.loop.hrtime() - begun) / 1e9
T.say(string.format('scripted: %d commands, %d questions, %.1f s to the accepted edit', commands, #questions, took))
T.ok(commands <= 3, 'at most three commands')
T.ok(#questions > 0 and #questions <= 2, 'at most two questions')
T.quit()
