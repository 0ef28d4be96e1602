-- The first run of the editor: a tool call, three hunks, one accepted, one
-- rejected, one left pending.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
local on_disk = function() return table.concat(vim.fn.readfile('main.go'), '\n') end
T.start('main.go')
local before = on_disk()

local read = T.call('read_file', { path = 'main.go' })
T.ok(read.ok and read.content:find('func main', 1, true), 'a tool reads the file')

T.ok(T.execute('sidecar.mode.set', { mode = 'review' }).mode == 'review', 'mode review')
local edited = T.call('edit_file', {
  path = 'main.go',
  edits = {
    { search = 'const greeting = "hello"', replace = 'const greeting = "good morning"' },
    { search = '	fmt.Println(greeting)', replace = '	fmt.Println(greeting, name())' },
    { search = 'return "you"', replace = 'return "world"' },
  },
})
T.ok(edited.ok, 'edit_file: ' .. edited.content)
T.ok(edited.changes[1].state == 'pending', 'the edit is pending')
T.ok(on_disk() == before, 'the disk has not changed')
T.ok(#T.hunks() == 3, 'three hunks')
T.ok(T.call('grep', { pattern = 'good morning' }).content:find('main.go', 1, true), 'grep sees pending text')

T.await(function() return #vim.diagnostic.get(0) == 3 end, 'a diagnostic for each hunk')
vim.api.nvim_win_set_cursor(0, { 5, 0 })
local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = {} }
local replies = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 5000)
local titles = {}
for _, reply in pairs(replies) do
  for _, action in ipairs(reply.result or {}) do table.insert(titles, action.kind .. ': ' .. action.title) end
end
table.sort(titles)
T.say('code actions: ' .. table.concat(titles, ' | '))
T.ok(table.concat(titles):find('quickfix.sidecar.accept', 1, true), 'an action accepts the hunk')
T.ok(table.concat(titles):find('quickfix.sidecar.reject', 1, true), 'an action rejects the hunk')

vim.cmd('SidecarAccept')
T.await(function() return T.line(5) == 'const greeting = "good morning"' end, 'the accepted hunk is in the buffer')
T.await(function() return #T.hunks() == 2 end, 'two hunks are left')
vim.cmd('silent undo')
T.ok(T.line(5) == 'const greeting = "hello"', 'undo takes the hunk out of the buffer')
vim.cmd('silent redo')
T.ok(T.line(5) == 'const greeting = "good morning"', 'redo brings it back')

vim.api.nvim_win_set_cursor(0, { 8, 0 })
vim.cmd('SidecarReject')
T.await(function() return #T.hunks() == 1 end, 'one hunk is left')
T.ok(T.line(8) == '	fmt.Println(greeting)', 'the rejected hunk is not in the buffer')

vim.api.nvim_buf_set_lines(0, 2, 2, false, { '', '// Typed by the user.' })
T.await(function() return T.hunks()[1].oldStart == 14 end, 'the hunk moves with the lines above it')
T.ok(T.hunks()[1].state == 'moved', 'and says so')
vim.cmd('silent write')
T.quit()
