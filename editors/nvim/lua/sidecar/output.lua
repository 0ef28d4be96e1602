-- Output of commands that the server holds: what git ignores, and dependencies.
-- A person accepts or drops it, all that a session has at once.

local sidecar = require('sidecar')
local text = require('sidecar.agent.text')

local M = {}

-- What a person wants to know of it before it is in the workspace.
local kinds = { { 'protected', 'obeyed by programs, secret, or leading out' }, { 'programs', 'programs' }, { 'deleted', 'deleted' } }

local named = 200 -- the server names so many of each kind, and then no more

local function say(what, level) vim.notify('sidecar: ' .. what, level) end

-- A name in one line, with every character in sight: what commands made can have any.
local function shown(name)
  return text.visible((name:gsub('[\t\n\r]', function(char) return string.format('‹U+%04X›', char:byte()) end)))
end

local function list(names) return type(names) == 'table' and names or {} end

-- Names, at most so many of them.
local function some(names, most)
  names = list(names)
  local first = table.concat(vim.tbl_map(shown, vim.list_slice(names, 1, math.min(most, #names))), ', ')
  if #names <= most then return first end
  return #names < named and string.format('%s and %d more', first, #names - most) or first .. ' and many more'
end

local function files(n) return n == 1 and '1 file' or n .. ' files' end

local function much(held)
  local size = held.bytes < 2 ^ 20 and string.format('%d KiB', math.ceil(held.bytes / 2 ^ 10)) or string.format('%.1f MiB', held.bytes / 2 ^ 20)
  local names = some(held.names, 3)
  return files(held.files) .. ', ' .. size .. (names ~= '' and ' in ' .. names or '')
end

-- The dangerous names of entries, each with what it is and whose.
local function dangers(entries)
  local found = {}
  for _, held in ipairs(entries) do
    for _, kind in ipairs(kinds) do
      for _, name in ipairs(list(held[kind[1]])) do found[table.concat({ held.session, kind[1], name }, '\n')] = true end
    end
  end
  return found
end

local function lines(entries)
  local out = {}
  for _, held in ipairs(entries) do
    table.insert(out, table.concat({ shown(held.session), much(held), (held.at:gsub('%.%d+', '')) }, '  '))
    for _, kind in ipairs(kinds) do
      local names = some(held[kind[1]], 10)
      if names ~= '' then table.insert(out, '  ' .. kind[2] .. ': ' .. names) end
    end
  end
  return out
end

-- What asks the server of this buffer, whatever buffer is current when it does.
local function asking()
  local client = sidecar.client(vim.api.nvim_get_current_buf()) or sidecar.client()
  return function(action, session, done, failed, command)
    sidecar.ask(client, 'sidecar.review.output', { action = action, session = session, command = command }, done, failed)
  end, client
end

local function sure(word, entries, yes, question)
  local about = table.concat(vim.tbl_map(vim.trim, lines(entries)), '; ')
  vim.ui.select({ word, 'Cancel' }, { prompt = (question or word .. ' this output?') .. ' ' .. text.line(about, 1000) }, function(choice)
    if choice == word then yes() end
  end)
end

local function none(session) say(session and 'no output of ' .. shown(session) .. ' is held; :SidecarOutput lists what is' or 'no output is held') end

local function moved(r)
  say('moved to the workspace: ' .. files(r.accepted or 0))
  for _, why in ipairs(list(r.left)) do say(shown(why), vim.log.levels.WARN) end
end

-- Shows what is held.
function M.list()
  asking()('list', nil, function(r)
    if #r.entries == 0 then return none() end
    sidecar.show('held output', lines(r.entries), 'text')
  end)
end

-- Moves the output of a session to the workspace, or all. What is dangerous of it is
-- asked about, and what a command adds to that while the question stands, too.
function M.accept(session)
  local ask = asking()
  local function decide(seen)
    ask('list', session, function(r)
      if #r.entries == 0 then return none(session) end
      local now = dangers(r.entries)
      for key in pairs(now) do
        if not seen[key] then return sure('Accept', r.entries, function() decide(now) end) end
      end
      ask('accept', session, moved)
    end)
  end
  decide({})
end

local built -- the command line that built output last

-- Builds the output of a session again, or all, over the accepted text, and takes what that
-- makes in its place. The command line is shown before it runs.
function M.build(session)
  local ask = asking()
  ask('list', session, function(r)
    if #r.entries == 0 then return none(session) end
    vim.ui.input({ prompt = 'Build it again with: ', default = built }, function(line)
      if not line or vim.trim(line) == '' then return end
      sure('Build', r.entries, function()
        built = line
        ask('build', session, function(done)
          if done.built.ok then return moved(done) end
          say(string.format('%s failed with exit code %d; the output is held as before', shown(line), done.built.exitCode), vim.log.levels.WARN)
          sidecar.show('build', vim.split(text.visible(done.built.output), '\n'), 'text')
        end, nil, line)
      end, 'Run `' .. shown(line) .. '` over the accepted text, in the place of this output?')
    end)
  end)
end

-- Removes the output of a session, or all, after a question.
function M.drop(session)
  local ask = asking()
  ask('list', session, function(r)
    if #r.entries == 0 then return none(session) end
    sure('Drop', r.entries, function()
      ask('drop', session, function() say('dropped') end)
    end)
  end)
end

-- The sessions that hold output, for completion.
function M.sessions()
  local ask, client = asking()
  if not client then return {} end
  local sessions
  ask('list', nil, function(r)
    sessions = vim.tbl_map(function(held) return held.session end, r.entries)
  end, function() sessions = {} end)
  vim.wait(1000, function() return sessions end, 5)
  return sessions or {}
end

return M
