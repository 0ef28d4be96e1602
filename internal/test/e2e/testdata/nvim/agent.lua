-- A conversation with an agent: chosen, allowed, talked to, asked by, reviewed,
-- stopped, and gone on with after the server was killed.
local T = dofile(vim.env.SIDECAR_TESTDATA .. '/common.lua')
local sidecar = require('sidecar')
local view = require('sidecar.agent.view')

local said = {}
vim.notify = function(text) table.insert(said, text) end
local function told(what)
  T.await(function()
    for _, text in ipairs(said) do
      if text:find(what, 1, true) then return true end
    end
  end, 'told: ' .. what)
  said = {}
end

-- What is chosen next, by the beginning of how it is shown.
local choices, offered = {}, {}
vim.ui.select = function(items, opts, on_choice)
  offered = vim.tbl_map(opts.format_item or tostring, items)
  local wanted = table.remove(choices, 1)
  for i, text in ipairs(offered) do
    if vim.startswith(text, wanted) then return on_choice(items[i], i) end
  end
  T.fail('there is no ' .. wanted .. ' in ' .. vim.inspect(offered))
end
local inputs = {}
vim.ui.input = function(_, on_confirm) on_confirm(table.remove(inputs, 1)) end

local function press(keys) vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, true, true), 'xt', false) end
local function runs() return T.execute('sidecar.agent.runs', { all = true }).runs end

sidecar.setup({ cmd = { vim.env.SIDECAR_LS, 'serve' } })
vim.cmd('SidecarAgent')
told('not running')
T.start('a.txt', { mode = 'review' })
local file = vim.api.nvim_get_current_buf()
vim.cmd('SidecarAgent nonsense')
told('"nonsense" is none of')
vim.cmd('SidecarAgent stop')
told('no conversation is open')

-- What is missing is listed, and why; what it sees is asked about.
choices = { 'absent' }
vim.cmd('SidecarAgent')
told('no-such-agent is not on PATH')
T.ok(vim.tbl_contains(vim.tbl_map(function(text) return text:sub(1, 5) == 'mute:' end, offered), true), 'an agent without the protocol is listed with a word')
choices = { 'scripted', 'Cancel' }
vim.cmd('SidecarAgent')
T.await(function() return #choices == 0 end, 'asked for consent')
T.ok(#runs() == 0, 'cancelled, nothing runs')
choices = { 'scripted', 'Start' }
vim.cmd('SidecarAgent')
T.await(function() return view.latest() and view.latest().prompt end, 'a conversation is open')
local v = view.latest()
press('mamake it so') -- after one command, as after the event by which a conversation opens
T.ok(table.concat(vim.api.nvim_buf_get_lines(v.prompt, 0, -1, false), '|') == 'make it so', 'its prompt takes what is typed')
vim.api.nvim_buf_set_lines(v.prompt, 0, -1, false, {})
local function lines() return vim.api.nvim_buf_get_lines(v.buf, 0, -1, false) end
local function text() return table.concat(lines(), '\n') end
local function shows(what) T.await(function() return text():find(what, 1, true) end, 'it shows ' .. what) end
local function line_of(what)
  for i, line in ipairs(lines()) do
    if line:find(what, 1, true) then return i end
  end
end
local function conversation() vim.api.nvim_set_current_win(vim.fn.bufwinid(v.buf)) end
local function send(prompt, keys)
  require('sidecar.agent.prompt').open(v)
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(prompt, '\n'))
  press(keys or '<C-s>')
end
local function state(what)
  T.await(function() return vim.startswith(lines()[#lines()], '── ' .. what) end, 'the foot says ' .. what)
end

send('say hello\nthink hm\nplan one|two\nwrite a.txt one\\nTWO\\n\nrun cat a.txt; cat nowhere\npermit execute make install\nsay after')
shows('[a] Allow')
T.ok(vim.trim(table.concat(vim.api.nvim_buf_get_lines(v.prompt, 0, -1, false), '\n')) == '', 'the prompt is sent')
T.ok(text():find('## You · %d%d:%d%d\nsay hello\n'), 'it shows what was said')
for _, what in ipairs({
  '\nhello', '\n∴ Thought\n> hm', '\n✓ Write a.txt\n  a.txt\n', '\n✗ $ cat a.txt; cat nowhere · failed\n    exit status 1\n', '\n── Plan 0/2 · one\n   ◐ one\n   ○ two\n',
  '\n── 1 file +1 −1 to review\n   M a.txt +1 −1\n', '\n? make install\n  [a] Allow  [d] Deny  [r] Deny with Reason',
}) do
  shows(what)
end
state('? Needs you')
conversation()
local header = vim.wo[vim.fn.exists('+winbar') == 1 and 'winbar' or 'statusline']
T.ok(header:find('scripted · review · ? Needs you', 1, true), 'so does the header: ' .. header)

-- Folds: what is done is closed, what failed is open.
T.ok(vim.fn.foldclosed(line_of('∴ Thought')) > 0 and vim.fn.foldclosed(line_of('✓ Write a.txt')) > 0, 'thoughts and calls that are done are folded')
T.ok(vim.fn.foldclosed(line_of('✗ ')) == -1 and vim.fn.foldlevel(line_of('✗ ')) == 1, 'a call that failed is open')

-- Keys act on the question's lines only; the text can't be written into.
vim.api.nvim_win_set_cursor(0, { line_of('hello'), 0 })
T.ok(not v:question(), 'no question is at another line')
local feed, answers = require('sidecar.agent.feed'), 0
local ask = feed.ask
feed.ask = function(of, command, ...)
  if command == 'sidecar.agent.answer' then answers = answers + 1 end
  return ask(of, command, ...)
end
press('a')
vim.cmd('stopinsert')
local later = false
vim.schedule(function() later = true end)
T.await(function() return later end, 'what a key has begun is done')
T.ok(answers == 0, 'a key at another line answers nothing')
vim.api.nvim_win_set_cursor(0, { line_of('? make install'), 0 })
press('s')
told('no answer for s')
T.ok(text():find('? make install', 1, true), 'it is still asked')
press('a')
shows('✓ make install · Allow (editor)')
T.ok(answers == 1, 'a key at the question answers it')
shows('permitted: yes\n')
shows('after')
state('● Ready')
T.ok(not text():find('[a] Allow', 1, true), 'the question is closed')

-- The cursor follows at the end, and stays elsewhere.
press('G')
send('say more\nsay and more')
shows('\nand more')
state('● Ready')
local win = vim.fn.bufwinid(v.buf)
T.ok(vim.api.nvim_win_get_cursor(win)[1] == #lines(), 'the cursor stays at the end')
conversation()
vim.api.nvim_win_set_cursor(0, { line_of('hello'), 2 })
send('say still more')
shows('\nstill more\n')
state('● Ready')
T.ok(vim.deep_equal(vim.api.nvim_win_get_cursor(win), { line_of('hello'), 2 }), 'elsewhere it stays')

-- A denial with a reason, which the agent hears next.
send('permit execute make again')
shows('? make again')
conversation()
vim.api.nvim_win_set_cursor(0, { line_of('? make again') + 1, 0 })
inputs = { 'use go' }
press('r')
shows('heard: use go')
T.ok(text():find('permitted: no', 1, true), 'it is denied')
state('● Ready')

-- The queue: edited, withdrawn; and the agent stopped.
send('hang')
state('◐ Working')
send('say first')
shows('── 1 queued')
send('say second')
shows('   2. say second')
conversation()
vim.api.nvim_win_set_cursor(0, { line_of('   2. say second'), 0 })
press('x')
T.await(function() return not text():find('say second', 1, true) end, 'a queued prompt is withdrawn')
conversation()
vim.api.nvim_win_set_cursor(0, { line_of('   1. say first'), 0 })
press('e')
T.ok(vim.api.nvim_get_current_buf() == v.prompt and vim.api.nvim_get_current_line() == 'say first', 'a queued prompt is in the prompt')
send('say changed')
shows('   1. say changed')
conversation()
press('<C-c>')
shows('■ Interrupted')
state('‖ Paused')
vim.cmd('SidecarAgent resume')
shows('\nchanged')
state('● Ready')

-- Before the queue: steered, which this agent can't be, and interrupted.
send('hang')
state('◐ Working')
send('say behind')
shows('   1. say behind')
send('say before', '<C-CR>')
shows('   1. say before\n   2. say behind')
require('sidecar.agent.prompt').open(v)
vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'say at once' })
vim.cmd('SidecarAgent interrupt')
T.await(function() return text():find('\nat once\n.*before\n.*behind\n') end, 'each is heard in its order')
state('● Ready')

-- What is named in a prompt is sent along.
vim.api.nvim_set_current_win(vim.fn.bufwinid(file) ~= -1 and vim.fn.bufwinid(file) or vim.fn.win_getid(1))
vim.cmd('buffer ' .. file)
vim.diagnostic.set(vim.api.nvim_create_namespace('test'), file, { { lnum = 1, col = 0, message = 'is two', severity = 1 } })
vim.cmd('2,2SidecarAgent')
T.ok(vim.api.nvim_get_current_line() == '@a.txt:2-2 ', 'the selection is named in the prompt')
vim.api.nvim_set_current_win(vim.fn.bufwinid(file))
vim.cmd('SidecarAgent diagnostics')
T.ok(vim.api.nvim_get_current_line() == '@a.txt:2-2 @diagnostics:a.txt ', 'so are the diagnostics')
vim.api.nvim_put({ '@nowhere.txt @../../etc' }, 'c', true, true)
local complete = require('sidecar.agent.prompt').complete
T.ok(complete(1, '') == #vim.api.nvim_get_current_line() - #'../../etc' and complete(0, 'a.')[1] == 'a.txt', 'names are completed')
press('<C-s>')
shows('attached file://')
shows('a.txt: two')
shows('a.txt:2:1: error: is two')
T.ok(not text():find('etc: ', 1, true), 'what is no file is not')

-- A skill begins the prompt.
require('sidecar.agent.prompt').open(v)
vim.api.nvim_buf_set_lines(v.prompt, 0, -1, false, { 'say it' })
choices = { 'debug-cycle · shipped' }
vim.cmd('SidecarSkill')
local begun = 'Use the skill debug-cycle (the tool skill has it): say it'
T.await(function() return vim.api.nvim_buf_get_lines(v.prompt, 0, -1, false)[1] == begun end, 'the skill stands before the words')
vim.cmd('SidecarSkill nothing')
told('there is no skill nothing')
vim.cmd('SidecarSkill tdd_workflow')
T.await(function() return vim.api.nvim_buf_get_lines(v.prompt, 0, -1, false)[1] == 'Use the skill tdd-workflow (the tool skill has it): ' .. begun end, 'a skill is taken by its name')
vim.api.nvim_buf_set_lines(v.prompt, 0, -1, false, {})
state('● Ready')

-- The review is the one that there is.
conversation()
press('gr')
T.await(function() return #vim.fn.getqflist() == 1 end, 'what it changed is in the list')
T.ok(vim.fn.getqflist()[1].text:find('TWO', 1, true), 'with its text')
vim.cmd('cclose')
vim.api.nvim_set_current_win(vim.fn.bufwinid(file))
vim.api.nvim_win_set_cursor(0, { 2, 0 })
vim.cmd('SidecarAccept')
T.await(function() return vim.api.nvim_buf_get_lines(file, 1, 2, false)[1] == 'TWO' end, 'it is accepted')
T.await(function() return not text():find('to review', 1, true) end, 'and no longer in the foot')

-- Read again, the buffer is the same.
conversation()
local before = lines()
vim.cmd('edit')
T.await(function() return vim.deep_equal(lines(), before) end, 'read again, it says the same')
vim.cmd('bwipeout!')
choices = { '● ' }
vim.cmd('SidecarAgent runs')
T.await(function() return view.of(v.run) and view.of(v.run) ~= v end, 'chosen among the runs')
v = view.of(v.run)
T.await(function() return vim.deep_equal(lines(), before) end, 'it says the same once more')

-- The server dies while the agent works, and is there again.
send('write b.txt new\\n\nhang')
shows('   A b.txt')
vim.loop.kill(vim.lsp.get_client_by_id(v.client).rpc.pid, 'sigkill')
state('⊘ The server has ended')
send('say lost')
told('not running')
T.ok(vim.api.nvim_buf_get_lines(v.prompt, 0, -1, false)[1] == 'say lost', 'what was written is kept')
local win_of_file = vim.fn.bufwinid(file)
vim.api.nvim_set_current_win(win_of_file)
vim.cmd('SidecarStart')
shows('■ Interrupted\n  The server ended')
state('● Ready')
shows('   A b.txt')
send('run cat b.txt')
shows('\nnew')
state('● Ready')
choices = { 'End' }
vim.cmd('SidecarAgent close')
state('✓ Ended')
T.quit()
