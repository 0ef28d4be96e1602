-- The story of a session's world: an agent edits and tests in the mode review without
-- a byte on the disk, the user tests without one hunk, then accepts all.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
T.start('a.go', { mode = 'review' })

local function texts() return { vim.fn.readfile('a.go', 'b'), vim.fn.readfile('b.go', 'b'), vim.fn.filereadable('c.go') } end
local function ok(result, text)
  if not result.ok then T.say(result.content) end
  T.ok(result.ok, text)
  return result
end
local before = texts()
T.await(function() return T.execute('sidecar.mode.get').mode == 'review' end, 'the mode is review')

ok(T.call('edit_file', { path = 'a.go', search = 'a - b', replace = 'a * b' }), 'an agent edits')
ok(T.call('edit_file', { path = 'b.go', search = '"b"', replace = '"two"' }), 'and another file')
local failed = T.call('run_tests', vim.empty_dict())
T.ok(not failed.ok and failed.content:find('TestSum', 1, true), 'its tests fail over what is pending')
ok(T.call('edit_file', { path = 'a.go', search = 'a * b', replace = 'a+b' }), 'it edits again')
local passed = ok(T.call('run_tests', vim.empty_dict()), 'its tests pass')
T.ok(not passed.content:find('saw the disk', 1, true), 'in a world')
ok(T.call('write_file', { path = 'c.go', content = 'package a\nfunc c()   int { return 3 }\n' }), 'it makes a file')
local formatted = ok(T.call('run_command', { command = 'gofmt -w a.go c.go' }), 'and has it formatted')
T.ok(formatted.content:find('held for review', 1, true) and formatted.content:find('c.go', 1, true), 'which is held, too')
T.ok(vim.deep_equal(texts(), before), 'nothing of it is on the disk')

local leftOut, chosen = 0, {}
for _, edit in ipairs(T.pending()) do
  for _, hunk in ipairs(edit.hunks) do
    if edit.path == 'a.go' then leftOut = leftOut + 1 else table.insert(chosen, hunk.id) end
  end
end
T.ok(leftOut == 1 and #chosen == 2, 'three hunks are pending')
T.ok(not T.execute('sidecar.review.verify', { hunks = chosen }).ok, 'without one of them the tests fail')
T.ok(T.execute('sidecar.review.list').verified.ok == false, 'and the list says so')
local said = {}
vim.notify = function(text) table.insert(said, text) end
vim.cmd('SidecarVerify')
T.await(function() return (said[#said] or ''):find('tested: ', 1, true) end, 'with all of them they pass')
local tested = T.call('run_command', { command = 'sha256sum a.go b.go c.go' }).content

vim.cmd('SidecarAcceptAll')
T.await(function() return #T.pending() == 0 end, 'the user accepts all')
vim.cmd('wall')
for _, name in ipairs({ 'a.go', 'b.go', 'c.go' }) do
  local sum = vim.fn.sha256(table.concat(vim.fn.readfile(name, 'b'), '\n'))
  T.ok(tested:find(sum .. '  ' .. name, 1, true), name .. ' on the disk is what was tested')
end
T.quit()
