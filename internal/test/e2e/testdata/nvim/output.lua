-- Output of commands is held until the user accepts or drops it.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
T.start('a.txt', { mode = 'review' })
T.await(function() return T.execute('sidecar.mode.get').mode == 'review' end, 'the mode is review')

local said, asked, answer = {}, {}, nil
vim.notify = function(text) table.insert(said, text) end
vim.ui.select = function(items, opts, done)
  table.insert(asked, opts.prompt)
  if type(answer) == 'function' then answer() end
  done(answer ~= 'Cancel' and items[1] or answer)
end
local function last() return said[#said] or '' end
local function entries() return T.execute('sidecar.review.output', { action = 'list' }).entries end
local function there(name) return vim.loop.fs_lstat(name) ~= nil end
local function run(session, command)
  local r = T.execute('sidecar.tools.call', { name = 'run_command', arguments = { command = command }, session = session })
  T.ok(r.ok, session .. ' runs its command: ' .. r.content)
end

for _, id in ipairs({ 'plain', 'tools' }) do T.execute('sidecar.session.open', { id = id, mode = 'review' }) end
vim.cmd('SidecarOutput')
T.await(function() return last() == 'sidecar: no output is held' end, 'there is none at first')
T.ok(#vim.fn.getcompletion('SidecarOutputDrop ', 'cmdline') == 0, 'nor a session to name')

run('plain', 'git tag v1')
require('sidecar').review()
T.await(function() return #vim.fn.getqflist() == 1 end, 'a tag is in the list of what is pending')
T.ok(vim.fn.getqflist()[1].text:find('^New tag v1 on .*: first, waits$'), 'with its commit: ' .. vim.fn.getqflist()[1].text)
vim.cmd('cclose')
T.execute('sidecar.review.reject', vim.empty_dict())

run('plain', 'mkdir -p out && echo built > out/b.o')
run('tools', [[mkdir -p node_modules/tool && echo true > node_modules/tool/run && chmod +x node_modules/tool/run && echo x > 'node_modules/a
b']])
T.ok(not there('out') and not there('node_modules'), 'nothing of it is on the disk')
vim.cmd('SidecarOutput')
T.await(function() return vim.bo.filetype == 'text' end, 'a window lists it')
local listed = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
vim.cmd('close')
T.ok(listed:find('plain  1 file, 1 KiB in out  20', 1, true), 'how much each session has, and where: ' .. listed)
T.ok(listed:find('tools  2 files, 1 KiB in node_modules  20%d%d%-[^\n]*\n  programs: node_modules/tool/run'), 'and its programs')
T.ok(vim.deep_equal(vim.fn.getcompletion('SidecarOutputAccept p', 'cmdline'), { 'plain' }), 'sessions are completed')

vim.cmd('SidecarOutputAccept nobody')
T.await(function() return last():find('no output of nobody', 1, true) end, 'a session that holds nothing is told')
vim.cmd('SidecarOutputAccept plain')
T.await(function() return last() == 'sidecar: moved to the workspace: 1 file' end, 'what is harmless is accepted')
T.ok(#asked == 0, 'without a question')
T.ok(vim.fn.readfile('out/b.o')[1] == 'built', 'and is on the disk')
T.ok(#entries() == 1, 'the other session\'s is held')

answer = 'Cancel'
vim.cmd('SidecarOutputAccept tools')
T.await(function() return #asked == 1 end, 'a program is asked about')
T.ok(asked[1]:find('node_modules/tool/run', 1, true) and not asked[1]:find('\n', 1, true), asked[1])
vim.cmd('SidecarOutputDrop tools')
T.await(function() return #asked == 2 end, 'and so is to drop it')
T.ok(#entries() == 1 and not there('node_modules'), 'no is no')

answer = function() -- while the question stands, a command adds to it
  answer = nil
  run('tools', 'echo true > node_modules/tool/more && chmod +x node_modules/tool/more')
end
vim.cmd('SidecarOutputAccept')
T.await(function() return last() == 'sidecar: moved to the workspace: 3 files' end, 'a yes accepts it')
T.ok(#asked == 4 and asked[4]:find('tool/more', 1, true) and not asked[3]:find('tool/more', 1, true), 'once all of it was named')
T.ok(there('node_modules/tool/run') and there('node_modules/tool/more'), 'and it is on the disk')

run('plain', 'mkdir -p out && echo theirs > out/d.o')
local typed
vim.ui.input = function(opts, done) asked.default = opts.default; done(typed) end
typed, answer = 'mkdir -p out && echo mine > out/d.o', 'Cancel'
vim.cmd('SidecarOutputBuild plain')
T.await(function() return asked[#asked]:find('Run `' .. typed .. '` over', 1, true) end, 'it says what will run')
T.ok(#entries() == 1 and not there('out/d.o'), 'no is no')
typed, answer = 'exit 7', nil
vim.cmd('SidecarOutputBuild plain')
T.await(function() return last():find('exit 7 failed with exit code 7', 1, true) end, 'a build that fails says so')
T.await(function() return vim.bo.filetype == 'text' end, 'and its output is shown')
vim.cmd('close')
T.ok(#entries() == 1 and not there('out/d.o'), 'and takes nothing')
typed = 'mkdir -p out && echo mine > out/d.o'
vim.cmd('SidecarOutputBuild plain')
T.await(function() return last() == 'sidecar: moved to the workspace: 1 file' end, 'a build is taken: ' .. last())
T.ok(asked.default == 'exit 7' and vim.fn.readfile('out/d.o')[1] == 'mine' and #entries() == 0, 'in the place of what was held')

run('plain', 'echo other > out/b.o; echo new > out/c.o')
vim.fn.writefile({ 'mine' }, 'out/b.o')
vim.cmd('SidecarOutputAccept plain')
T.await(function() return last():find('out/b.o', 1, true) end, 'what the user has changed since stays held, and that is told: ' .. last())
T.ok(vim.fn.readfile('out/b.o')[1] == 'mine' and vim.fn.readfile('out/c.o')[1] == 'new', 'the rest is accepted')
vim.cmd('SidecarOutputDrop')
T.await(function() return last() == 'sidecar: dropped' end, 'the rest is dropped')
T.ok(#entries() == 0 and vim.fn.readfile('out/b.o')[1] == 'mine', 'and the disk is as it was')
T.quit()
