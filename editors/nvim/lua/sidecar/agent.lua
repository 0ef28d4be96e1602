-- Conversations with agents: choosing one, starting and finding runs, and what
-- people do in them. :SidecarAgent is the command; docs/protocol.md has what
-- the server does.

local text = require('sidecar.agent.text')
local draw = require('sidecar.agent.draw')
local view = require('sidecar.agent.view')
local feed = require('sidecar.agent.feed')
local prompt = require('sidecar.agent.prompt')
local sidecar = require('sidecar')

local M = {}

local function warn(words) vim.notify('sidecar: ' .. words, vim.log.levels.WARN) end

-- The client to ask, or nil with a word about it.
local function client()
  local v = view.here()
  local c = v and vim.lsp.get_client_by_id(v.client) or sidecar.client(vim.api.nvim_get_current_buf()) or sidecar.client()
  if not c then return warn('sidecar-ls is not running: open a file of the project, or :SidecarStart in one') end
  if not c.initialized then return warn('sidecar-ls is starting: try again when it is there') end
  local provider = c.server_capabilities and c.server_capabilities.executeCommandProvider or {}
  if not vim.tbl_contains(provider.commands or {}, 'sidecar.agent.list') then return warn('this sidecar-ls drives no agents; install a newer one') end
  return c
end

-- The conversation of the window, else the one that was entered last.
local function current()
  return view.here() or view.latest() or warn('no conversation is open: :SidecarAgent starts one, :SidecarAgent runs lists them')
end

-- Shows the conversation of a run.
function M.open(run, c)
  local v = view.of(run)
  if not v then
    local buf = vim.api.nvim_create_buf(true, false)
    vim.api.nvim_buf_set_name(buf, 'sidecar://agent/' .. run)
    v = view.make(run, c, buf)
    feed.rebuild(v)
  end
  local win = vim.fn.bufwinid(v.buf)
  if win ~= -1 then
    vim.api.nvim_set_current_win(win)
  else
    vim.cmd('botright vsplit')
    vim.api.nvim_win_set_buf(0, v.buf)
  end
  return v
end

-- Reads a buffer that is named after a run; `:edit` builds it anew.
function M.read(buf)
  local run = vim.api.nvim_buf_get_name(buf):match('^sidecar://agent/([^/]+)$')
  local c = run and client()
  if c then feed.rebuild(view.of(run) or view.make(run, c, buf)) end
end

-- Begins a run, once the person has allowed what the agent sees.
local function begin(c, agent)
  local function start(consent)
    sidecar.ask(c, 'sidecar.agent.run', { agent = agent.name, consent = consent }, function(r)
      prompt.open(M.open(r.run, c))
    end)
  end
  if agent.consented then return start(nil) end
  local lines = { text.line(agent.title, 80) .. ' may see of yours:', '' }
  for _, what in ipairs(agent.shown or agent.sees) do table.insert(lines, '  ' .. text.line(what, 400)) end
  if #agent.sees == 0 then table.insert(lines, '  nothing') end
  vim.list_extend(lines, { '', 'It may not see the rest of your home directory. In the project it sees what is not secret, and what it writes waits for review.' })
  local close = sidecar.show('what ' .. text.line(agent.title, 80) .. ' may see', lines, 'text')
  vim.cmd('redraw') -- the question may hold the screen as it is
  vim.ui.select({ 'Start', 'Cancel' }, { prompt = 'Allow ' .. text.line(agent.title, 80) .. ' to see this, from now on?' }, function(choice)
    close()
    if choice == 'Start' then start(true) end
  end)
end

local function described(agent)
  local words = text.line(agent.title, 80) .. (agent.version and ' ' .. text.line(agent.version, 20) or '')
  if agent.available and agent.kind ~= 'program' then return words end
  return words .. ': ' .. text.line(agent.why or 'it can only be run in a terminal: sidecar-ls run', 200)
end

-- Chooses an agent and starts it. What is missing is listed, too.
function M.start()
  local c = client()
  if not c then return end
  sidecar.ask(c, 'sidecar.agent.list', nil, function(result)
    local agents = result.agents
    local function rank(a) return a.kind ~= 'program' and a.available and 1 or 2 end
    table.sort(agents, function(a, b)
      if rank(a) ~= rank(b) then return rank(a) < rank(b) end
      return a.name < b.name
    end)
    if #agents == 0 then return warn('there are no agents; the setting agents adds some') end
    vim.ui.select(agents, { prompt = 'Start an agent:', format_item = described }, function(agent)
      if not agent then return end
      if rank(agent) ~= 1 then return warn(described(agent)) end
      begin(c, agent)
    end)
  end)
end

local states = { idle = '●', running = '◐', waiting = '?', paused = '‖', ended = '✓' }

-- Chooses a run and shows it, the newest first.
function M.runs()
  local c = client()
  if not c then return end
  sidecar.ask(c, 'sidecar.agent.runs', { all = true }, function(result)
    local runs = result.runs
    table.sort(runs, function(a, b) return a.openedAt > b.openedAt end)
    if #runs == 0 then return warn('there are no runs yet: :SidecarAgent starts one') end
    local function item(r)
      local more = r.state == 'waiting' and ' · needs you' or r.state ~= 'ended' and not r.attached and ' · resumes with the next prompt' or ''
      return string.format('%s %s · %s%s%s', states[r.state] or ' ', text.line(r.title, 60), text.line(r.agent, 40), r.pending > 0 and ' · ' .. r.pending .. ' to review' or '', more)
    end
    vim.ui.select(runs, { prompt = 'Runs:', format_item = item }, function(r)
      if r then M.open(r.run, c) end
    end)
  end)
end

-- Answers a question. What can't be undone is allowed by a typed word only.
local function answer(v, question, id, kind, done)
  local function send() feed.ask(v, 'sidecar.agent.answer', { run = v.run, question = question.id, answer = id }, done) end
  if not question.irrecoverable or (kind or ''):sub(1, 6) == 'reject' then return send() end
  vim.ui.input({ prompt = 'This can not be undone. Type yes to allow it: ' }, function(word)
    if word == 'yes' then send() end
  end)
end

local function typed(v, question)
  vim.ui.input({ prompt = text.line(question.text, 200) .. ': ' }, function(word)
    if word then answer(v, question, word) end
  end)
end

function M.answer_key(v, question, key)
  if #question.options == 0 and key == 'a' then return typed(v, question) end
  for i, k in ipairs(draw.keys(question)) do
    if k == key or tostring(i) == key then return answer(v, question, question.options[i].id, question.options[i].kind) end
  end
  warn('the question has no answer for ' .. key)
end

-- Chooses among all options.
function M.choose(v, question)
  if #question.options == 0 then return typed(v, question) end
  vim.ui.select(question.options, { prompt = text.line(question.text, 200), format_item = function(o) return text.line(o.label, 80) end }, function(o)
    if o then answer(v, question, o.id, o.kind) end
  end)
end

-- Says no, and then why: the agent hears the reason next.
function M.deny_with_reason(v, question)
  local no = draw.denial(question)
  if not no then return warn('the question has no answer that denies once') end
  vim.ui.input({ prompt = 'Reason: ' }, function(reason)
    if not reason then return end
    answer(v, question, no.id, no.kind, function()
      if vim.trim(reason) ~= '' then feed.ask(v, 'sidecar.agent.prompt', { run = v.run, text = reason, when = 'steer' }) end
    end)
  end)
end

local function change(what)
  return function(v)
    v = v or current()
    if v then feed.ask(v, 'sidecar.agent.' .. what, { run = v.run }) end
  end
end
M.stop, M.pause, M.resume = change('cancel'), change('pause'), change('resume')

function M.close()
  local v = current()
  if not v then return end
  vim.ui.select({ 'End', 'Cancel' }, { prompt = 'End this run? What it wrote stays to be reviewed.' }, function(choice)
    if choice == 'End' then change('close')(v) end
  end)
end

function M.edit_queued(v, item)
  if not item then return warn('no queued prompt is here') end
  prompt.edit(v, item)
end

function M.withdraw(v, item)
  if not item then return warn('no queued prompt is here') end
  feed.ask(v, 'sidecar.agent.withdraw', { run = v.run, item = item.item })
end

local function with_current(f)
  return function(args)
    local v = current()
    if v then f(v, args) end
  end
end

local function send(when)
  return with_current(function(v)
    if not v.prompt then return prompt.open(v) end
    prompt.send(v, when)
  end)
end

-- Chooses a skill, or takes the one of that name, and begins the prompt with it: our own
-- agent takes its name, others get it by our tool.
function M.skill(name)
  local v, c = current(), client()
  if not v or not c then return end
  sidecar.ask(c, 'sidecar.skills.list', { session = v.model.session }, function(result)
    local function use(s)
      if s.missing then return warn('the skill ' .. text.line(s.name, 64) .. " can't be used: " .. text.line(s.missing, 200)) end
      prompt.begin_with(v, v.model.agent == 'builtin' and '/' .. s.name .. ' ' or 'Use the skill ' .. s.name .. ' (the tool skill has it): ')
    end
    if name and name ~= '' then
      for _, s in ipairs(result.skills) do
        if s.name == name:gsub('_', '-') then return use(s) end
      end
      return warn('there is no skill ' .. name .. ': :SidecarSkill lists them')
    end
    if #result.skills == 0 then return warn('there are no skills') end
    local function item(s) return text.line(s.name, 64) .. ' · ' .. text.line(s.origin, 40) .. ' · ' .. text.line(s.missing or s.description, 120) end
    vim.ui.select(result.skills, { prompt = 'Skill:', format_item = item }, function(s)
      if s then use(s) end
    end)
  end)
end

M.words = {
  start = M.start,
  runs = M.runs,
  prompt = with_current(prompt.open),
  send = send('queue'),
  steer = send('steer'),
  interrupt = send('interrupt'),
  stop = function() M.stop() end,
  pause = function() M.pause() end,
  resume = function() M.resume() end,
  close = M.close,
  review = with_current(function(v) sidecar.review(v.model.session) end),
  attach = with_current(function(v, args) prompt.attach(v, vim.api.nvim_get_current_buf(), args.range > 0 and args.line1 or nil, args.line2) end),
  diagnostics = with_current(function(v) prompt.attach_diagnostics(v, vim.api.nvim_get_current_buf()) end),
}

-- The command :SidecarAgent.
function M.command(args)
  local word = args.args == '' and (args.range > 0 and 'attach' or 'start') or args.args
  if not M.words[word] then
    local words = vim.tbl_keys(M.words)
    table.sort(words)
    return warn('"' .. word .. '" is none of ' .. table.concat(words, ', '))
  end
  M.words[word](args)
end

return M
