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
local plugin, asked = require('sidecar'), {}
local execute = plugin.execute
plugin.execute = function(command, argument) table.insert(asked, command .. ' ' .. vim.json.encode(argument)) end
vim.cmd('SidecarUndo')
vim.cmd('SidecarUndo u1')
vim.cmd('SidecarRedo')
plugin.execute = execute
T.ok(vim.deep_equal(asked, { 'sidecar.review.undo {"to":"last"}', 'sidecar.review.undo {"to":"u1"}', 'sidecar.review.redo {}' }), 'each undo goes one further back')
vim.cmd('SidecarAcceptFile')
T.await(function() return T.line(14) == '	return "world"' end, 'accepted again')
T.await(function() return not vim.bo.modified end, 'and saved, as the settings say')
T.quit()
