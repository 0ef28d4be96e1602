-- What views are told: events as they come, history where some are missing, what
-- waits for review, and that the server has gone or is there again.

local model = require('sidecar.agent.model')
local text = require('sidecar.agent.text')
local sidecar = require('sidecar')
local view = require('sidecar.agent.view')

local M = {}

-- Runs a command of the server that the view belongs to.
function M.ask(v, command, argument, done, failed)
  local client = vim.lsp.get_client_by_id(v.client)
  sidecar.ask(client, command, argument, done, failed)
end

local take

-- Asks for what has happened since the last event that is known, page after
-- page, and goes on with what has come meanwhile.
local function load(v)
  v.loading = true
  local generation = v.generation
  local function page()
    M.ask(v, 'sidecar.agent.history', { run = v.run, since = v.model.last }, function(result)
      if v.generation ~= generation then return end
      for _, e in ipairs(result.events) do model.apply(v.model, e) end
      local more = result.next > v.model.last or #result.events > 0
      v.model.last = math.max(v.model.last, result.next)
      v:schedule()
      if more then return page() end
      v.loading = false
      local waiting = v.waiting
      v.waiting = {}
      for _, e in ipairs(waiting) do take(v, e) end
    end, function()
      if v.generation == generation then v.loading = false end
    end)
  end
  page()
end

-- Takes an event in, once; where others are missing before it, they are asked for.
take = function(v, e)
  if v.loading then return table.insert(v.waiting, e) end
  if e.seq <= v.model.last then return end
  if e.seq > v.model.last + 1 then
    table.insert(v.waiting, e)
    return load(v)
  end
  model.apply(v.model, e)
  v:schedule()
end

local function of_session(edits, session)
  return vim.tbl_filter(function(edit)
    if edit.session == session then return true end
    for _, hunk in ipairs(edit.hunks or {}) do
      if vim.tbl_contains(hunk.sessions or {}, session) then return true end
    end
    return false
  end, edits)
end

-- What is so besides the events: the run's mode, and its files that wait for review.
local function surroundings(v)
  M.ask(v, 'sidecar.session.list', nil, function(result)
    for _, s in ipairs(result.sessions or {}) do
      if s.session == v.model.session then v.mode = s.mode end
    end
    v:schedule()
  end)
  M.ask(v, 'sidecar.review.list', nil, function(list)
    v.files = of_session(list.edits, v.model.session)
    v:schedule()
  end)
end

-- Builds a view anew from its run's history.
function M.rebuild(v)
  v.generation = (v.generation or 0) + 1
  v.model, v.waiting, v.down = model.new(v.run, v.root), {}, false
  M.ask(v, 'sidecar.agent.runs', { all = true }, function(result)
    for _, r in ipairs(result.runs) do
      if r.run == v.run then
        v.model.agent, v.model.title, v.model.session = r.agent, r.title, r.session
        return surroundings(v)
      end
    end
    vim.notify('sidecar: this project has no run ' .. v.run .. '; :SidecarAgent runs lists them', vim.log.levels.WARN)
  end)
  load(v)
end

-- Somebody is needed, and does not see it.
local function tell(e)
  local v = view.of(e.run)
  if e.kind == 'question' and not (v and #v:windows() > 0) then
    vim.notify('sidecar: an agent needs you: ' .. text.line(e.text, 100) .. ' (:SidecarAgent runs)', vim.log.levels.WARN)
  end
end

-- The handler of sidecar/event.
function M.event(_, e)
  if e.type ~= 'agent' then return end
  local v = view.of(e.run)
  if v then take(v, e) end
  tell(e)
end

-- The handler of sidecar/pendingEdits.
function M.pending(_, list, context)
  for _, v in pairs(view.all()) do
    if v.client == context.client_id then
      v.files = of_session(list.edits or {}, v.model.session)
      v:schedule()
    end
  end
end

-- The server has ended, or is there again.
function M.left(client_id)
  for _, v in pairs(view.all()) do
    if v.client == client_id then
      v.down = true
      v:schedule()
    end
  end
end

function M.arrived(client)
  for _, v in pairs(view.all()) do
    if v.root == client.config.root_dir and (v.down or v.client ~= client.id) then
      v.client = client.id
      M.rebuild(v)
    end
  end
end

return M
