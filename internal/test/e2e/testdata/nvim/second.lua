-- The second run: the pending hunk is still there, and is accepted.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
T.start('main.go', { ['edits.save'] = 'onAccept' })
T.ok(#T.hunks() == 1, 'the hunk survived the restart')
T.await(function() return #vim.diagnostic.get(0) == 1 end, 'and is shown')
vim.cmd('SidecarAcceptAll')
T.await(function() return T.line(14) == '	return "world"' end, 'accepted into the buffer')
T.await(function() return #T.pending() == 0 end, 'nothing is pending')
T.await(function() return #vim.diagnostic.get(0) == 0 end, 'and nothing is shown')
vim.cmd('SidecarUndo')
T.await(function() return T.line(14) == '	return "you"' and #T.hunks() == 1 end, 'undo of the accept: the hunk is pending again')
local said
local notify = vim.notify
vim.notify = function(text) said = text end
vim.cmd('SidecarUndo')
T.await(function() return said ~= nil end, 'another undo answers')
vim.notify = notify
T.ok(said == 'sidecar: taken back: nothing' and #T.hunks() == 1, 'and does not accept it again: ' .. said)
vim.cmd('SidecarAcceptFile')
T.await(function() return T.line(14) == '	return "world"' end, 'accepted again')
T.await(function() return not vim.bo.modified end, 'and saved, as the settings say')
T.quit()
