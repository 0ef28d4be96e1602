-- sidecar-ls for Neovim 0.7 and later. Everything here is plain LSP: the
-- pending hunks are diagnostics, code actions and code lenses of the server,
-- and each command below is one workspace/executeCommand.
--
--   require('sidecar').setup({ cmd = { 'sidecar-ls' } })

local M = {
  config = {
    cmd = { 'sidecar-ls', 'serve' },
    root_markers = { '.sidecar', '.git' }, -- the nearest directory that holds one is the workspace
    settings = vim.empty_dict(), -- as in docs/settings.md, for example { mode = 'review' }
    lenses = false, -- show code lenses, those of other servers too
    ask = true, -- questions in a window of their own; false: Neovim's way
  },
}

-- What newer versions have renamed, and methods that they call with a colon.
local get_clients = vim.lsp.get_clients or vim.lsp.get_active_clients
local colon = vim.fn.has('nvim-0.11') == 1
local function request(client, ...)
  if colon then return client:request(...) end
  return client.request(...)
end
local function stopped(client)
  if colon then return client:is_stopped() end
  return client.is_stopped()
end

-- The nearest directory around path that holds one of the markers.
local function root_of(path)
  local best = ''
  for _, marker in ipairs(M.config.root_markers) do
    local dir = vim.fn.finddir(marker, path .. ';')
    local root = dir ~= '' and vim.fn.fnamemodify(dir, ':p:h:h') or ''
    if #root > #best then best = root end
  end
  return best ~= '' and best or vim.fn.getcwd()
end

-- The running client whose root holds the buffer, or nil.
function M.client(bufnr)
  for _, client in pairs(get_clients()) do
    if client.name == 'sidecar' and not stopped(client) and (not bufnr or vim.lsp.buf_is_attached(bufnr, client.id)) then return client end
  end
end

-- Saves buffers in which an edit was applied, as they are.
local function save(_, params)
  local result = { saved = {}, failed = {} }
  for _, uri in ipairs(params.uris) do
    local bufnr = vim.uri_to_bufnr(uri)
    local ok, err = pcall(vim.api.nvim_buf_call, bufnr, function() vim.cmd('silent noautocmd write') end)
    table.insert(ok and result.saved or result.failed, ok and uri or { uri = uri, error = tostring(err) })
  end
  return result
end

-- Attaches a buffer, starting the server for its project when it is the first.
function M.attach(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if vim.bo[bufnr].buftype ~= '' or name == '' then return end
  local root = root_of(vim.fn.fnamemodify(name, ':p:h'))
  local config = {
    name = 'sidecar',
    cmd = M.config.cmd,
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fn.fnamemodify(root, ':t') } },
    capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), {
      experimental = { sidecar = { save = true, events = true, pendingEdits = true } },
    }),
    init_options = { sidecar = M.config.settings },
    handlers = {
      ['sidecar/save'] = save,
      ['sidecar/event'] = function(...) require('sidecar.agent.feed').event(...) end,
      ['sidecar/pendingEdits'] = function(...) require('sidecar.agent.feed').pending(...) end,
      ['window/showMessageRequest'] = M.config.ask and require('sidecar.ask').handler or nil,
      ['$/cancelRequest'] = M.config.ask and require('sidecar.ask').withdraw or nil,
    },
    on_init = function(client)
      -- Hunks come while the cursor is in a prompt. Drawn late, they would wait for the end of insert mode in their own buffer.
      vim.diagnostic.config({ update_in_insert = true }, vim.lsp.diagnostic.get_namespace(client.id))
      vim.schedule(function() require('sidecar.agent.feed').arrived(client) end)
    end,
    on_exit = function(_, _, id)
      vim.schedule(function() require('sidecar.agent.feed').left(id) end)
    end,
  }
  local reuse = function(client) return client.name == 'sidecar' and client.config.root_dir == root and not stopped(client) end
  if vim.lsp.start then return vim.lsp.start(config, { bufnr = bufnr, reuse_client = reuse }) end
  local id
  for _, client in pairs(get_clients()) do
    if reuse(client) then id = client.id end
  end
  id = id or vim.lsp.start_client(config)
  if id then vim.lsp.buf_attach_client(bufnr, id) end
  return id
end

-- Runs one command of a client's server; done(result) is called when it has
-- answered, failed() when it has refused, which the user is told.
function M.ask(client, command, argument, done, failed)
  if not client or stopped(client) then
    vim.notify('sidecar-ls is not running: open a file of the project first, or :SidecarStart in one', vim.log.levels.WARN)
    return failed and failed()
  end
  request(client, 'workspace/executeCommand', { command = command, arguments = { argument or vim.empty_dict() } }, function(err, result)
    if err then
      vim.notify('sidecar: ' .. (err.message or vim.inspect(err)), vim.log.levels.ERROR)
      if failed then failed() end
    elseif done then
      done(result)
    end
  end)
end

-- Tells the server what is selected, or where the cursor is, if it takes that.
local function tell_selection(bufnr)
  local client = M.client(bufnr)
  local can = client and client.server_capabilities.experimental
  if type(can) ~= 'table' or not (can.sidecar and can.sidecar.selection) then return end
  local from, to = vim.fn.getpos('.'), vim.fn.getpos('.')
  local visual = vim.fn.mode():match('^[vV\22]')
  if visual then from = vim.fn.getpos('v') end
  if from[2] > to[2] or from[2] == to[2] and from[3] > to[3] then from, to = to, from end
  local params = vim.lsp.util.make_given_range_params({ from[2], from[3] - 1 }, { to[2], math.max(to[3] - 1, 0) }, bufnr, client.offset_encoding)
  if not visual then params.range['end'] = params.range.start end
  local notice = { uri = params.textDocument.uri, ranges = { params.range } }
  if vim.fn.has('nvim-0.11') == 1 then return client:notify('sidecar/selection', notice) end
  client.notify('sidecar/selection', notice)
end

-- The same with the server of this buffer, or of any.
function M.execute(command, argument, done)
  M.ask(M.client(vim.api.nvim_get_current_buf()) or M.client(), command, argument, done)
end

-- Calls a tool and gives its ToolResult to done.
function M.call(tool, arguments, done)
  -- Lua can't tell an empty object from an empty list.
  if not arguments or vim.tbl_isempty(arguments) then arguments = vim.empty_dict() end
  M.execute('sidecar.tools.call', { name = tool, arguments = arguments }, done)
end

-- Shows lines in a window below, and returns what closes it.
local function show(title, lines, filetype)
  vim.cmd('botright new')
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
  vim.wo.number, vim.wo.relativenumber, vim.wo.statusline = false, false, ' ' .. title:gsub('%%', '%%%%')
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.bo.filetype, vim.bo.modifiable = filetype, false
  local win = vim.api.nvim_get_current_win()
  return function() pcall(vim.api.nvim_win_close, win, true) end
end
M.show = show

local function this_file() return vim.uri_from_bufnr(0) end

-- Tells what could not be accepted, and why.
local function report(result)
  for _, failure in ipairs(result and result.failed or {}) do
    vim.notify('sidecar: ' .. vim.uri_to_fname(failure.uri) .. ': ' .. failure.error, vim.log.levels.WARN)
  end
  for _, commit in ipairs(result and result.commits or {}) do
    if commit.error then vim.notify('sidecar: commit "' .. commit.message .. '": ' .. commit.error, vim.log.levels.WARN) end
  end
end

-- The lines at which a hunk stands, counted from one. What is only inserted
-- has none: it stands at the line that it comes before, or at the last one.
local function place(hunk)
  if hunk.oldLines > 0 then return hunk.oldStart, hunk.oldStart + hunk.oldLines - 1 end
  local line = math.min(hunk.oldStart + 1, vim.api.nvim_buf_line_count(0))
  return line, line
end

-- Acts on the pending hunk under the cursor. Without one it only goes to the
-- next, so that nothing is decided unseen.
local function with_hunk(act)
  local uri, line = this_file(), vim.api.nvim_win_get_cursor(0)[1]
  M.execute('sidecar.review.list', nil, function(list)
    local nearest
    for _, edit in ipairs(list.edits) do
      for _, hunk in ipairs(edit.uri == uri and edit.hunks or {}) do
        local first, last = place(hunk)
        if first <= line and line <= last then return act(hunk, list.revision) end
        if first > line or not nearest then nearest = (nearest and nearest > line) and nearest or first end
      end
    end
    if not nearest then
      vim.notify('sidecar: nothing is pending in this file')
    else
      vim.api.nvim_win_set_cursor(0, { nearest, 0 })
      vim.notify('sidecar: here is a pending hunk; repeat the command to decide on it')
    end
  end)
end

-- The first line that a hunk adds, else the first that it removes.
local function gist(hunk)
  local text = '\n' .. hunk.text
  return vim.trim(text:match('\n%+([^\n]*)') or ('delete ' .. (text:match('\n%-([^\n]*)') or '')))
end

local function with_reason(selection, args)
  if args.args ~= '' then selection.reason = args.args end
  return selection
end

-- Takes edits back or makes them again, and says which.
local function turn(what, args)
  local to = args.args
  if what == 'undo' and to == '' then to = 'last' end -- another one goes further back
  M.execute('sidecar.review.' .. what, to ~= '' and { to = to } or vim.empty_dict(), function(result)
    report(result)
    local names = vim.tbl_map(function(uri) return vim.fn.fnamemodify(vim.uri_to_fname(uri), ':.') end, result and result.restored or {})
    local said = (result and result.what == 'redo') and 'made again: ' or 'taken back: '
    vim.notify('sidecar: ' .. said .. (#names > 0 and table.concat(names, ', ') or 'nothing'))
  end)
end

-- Every pending hunk in the quickfix list, or those of a session.
function M.review(session)
  M.execute('sidecar.review.list', session and { session = session }, function(list)
    local items = {}
    for _, edit in ipairs(list.edits) do
      for _, hunk in ipairs(edit.hunks) do
        local text = string.format('%s +%d -%d %s: %s', edit.kind, hunk.newLines, hunk.oldLines, hunk.state, gist(hunk))
        table.insert(items, { filename = vim.uri_to_fname(edit.uri), lnum = math.max(hunk.oldStart, 1), text = text })
      end
    end
    for _, commit in ipairs(list.commits) do -- or a branch, a tag, a switch
      local what = commit.ref and '' or 'commit: '
      table.insert(items, { text = what .. vim.split(commit.message, '\n')[1] .. ', waits' .. (commit.error and (': ' .. commit.error) or '') })
    end
    vim.fn.setqflist({}, ' ', { title = 'Pending changes', items = items })
    if #items > 0 then vim.cmd('botright copen') else vim.notify('sidecar: nothing is pending') end
  end)
end

local commands = {
  SidecarAccept = function() with_hunk(function(h, rev) M.execute('sidecar.review.accept', { hunks = { h.id }, revision = rev }, report) end) end,
  SidecarReject = function(args)
    with_hunk(function(h, rev) M.execute('sidecar.review.reject', with_reason({ hunks = { h.id }, revision = rev }, args)) end)
  end,
  SidecarAcceptFile = function() M.execute('sidecar.review.accept', { uris = { this_file() } }, report) end,
  SidecarRejectFile = function(args) M.execute('sidecar.review.reject', with_reason({ uris = { this_file() } }, args)) end,
  SidecarAcceptAll = function() M.execute('sidecar.review.accept', nil, report) end,
  SidecarRejectAll = function(args) M.execute('sidecar.review.reject', with_reason(vim.empty_dict(), args)) end,
  -- Tests what is pending, or runs a command over it; nothing is accepted.
  SidecarVerify = function(args)
    vim.notify('sidecar: testing the pending changes')
    M.execute('sidecar.review.verify', args.args ~= '' and { command = args.args } or nil, function(r)
      local counts = r.passed and string.format(' (%d passed, %d failed)', r.passed, r.failed or 0) or ''
      local none = r.ok and r.passed == 0 and (r.failed or 0) == 0
      local how = none and 'not tested, no test was run: ' or r.ok and 'tested: ' or 'tests failed: '
      vim.notify('sidecar: ' .. how .. r.command .. (none and '' or counts), (none or not r.ok) and vim.log.levels.WARN or vim.log.levels.INFO)
      if not r.ok then show('tests of pending changes', vim.split(r.output, '\n', { trimempty = true }), '') end
    end)
  end,
  -- With the id of an entry, everything down to it.
  SidecarUndo = function(args) turn('undo', args) end,
  SidecarRedo = function(args) turn('redo', args) end,
  SidecarHistory = function()
    M.execute('sidecar.review.history', nil, function(r)
      local lines = {}
      for _, e in ipairs(r.entries) do
        local files = {}
        for _, f in ipairs(e.files) do table.insert(files, string.format('%s %s +%d -%d', f.kind, f.path, f.added, f.removed)) end
        table.insert(lines, table.concat({ e.id, e.at or '', e.what, e.tool, table.concat(files, ', '), e.why or '' }, '  '))
      end
      if #lines == 0 then return vim.notify('sidecar: nothing can be undone') end
      show('edits of agents', lines, 'text')
    end)
  end,
  SidecarDiff = function()
    M.execute('sidecar.review.diff', nil, function(r)
      if r.diff == '' then return vim.notify('sidecar: nothing is pending') end
      show('pending changes', vim.split(r.diff, '\n', { trimempty = true }), 'diff')
    end)
  end,
  SidecarReview = function() M.review() end,
  SidecarOutput = function() require('sidecar.output').list() end,
  SidecarMode = function(args)
    if args.args == '' then
      M.execute('sidecar.mode.get', nil, function(r) vim.notify('sidecar mode: ' .. r.mode) end)
    else
      M.execute('sidecar.mode.set', { mode = args.args }, function(r) vim.notify('sidecar mode: ' .. r.mode) end)
    end
  end,
  -- :SidecarTool grep {"pattern": "main"}
  SidecarTool = function(args)
    local name, rest = args.args:match('^(%S+)%s*(.*)$')
    local ok, arguments = pcall(vim.fn.json_decode, (rest and rest ~= '') and rest or '{}')
    if not name or not ok then
      vim.notify('usage: :SidecarTool NAME {"argument": "value"}', vim.log.levels.ERROR)
      return
    end
    M.call(name, arguments, function(r) show(name, vim.split(r.content, '\n'), '') end)
  end,
  SidecarStart = function() M.attach(vim.api.nvim_get_current_buf()) end,
}

function M.setup(opts)
  M.config = vim.tbl_deep_extend('force', M.config, opts or {})
  for name, run in pairs(commands) do
    vim.api.nvim_create_user_command(name, run, { nargs = '*' })
  end
  vim.api.nvim_create_user_command('SidecarMode', commands.SidecarMode, {
    nargs = '?',
    complete = function() return { 'autonomous', 'cautious', 'review', 'audit', 'plan', 'manual' } end,
  })
  for name, what in pairs({ SidecarOutputAccept = 'accept', SidecarOutputBuild = 'build', SidecarOutputDrop = 'drop' }) do
    vim.api.nvim_create_user_command(name, function(args) require('sidecar.output')[what](args.args ~= '' and args.args or nil) end, {
      nargs = '?',
      complete = function(lead)
        return vim.tbl_filter(function(word) return vim.startswith(word, lead) end, require('sidecar.output').sessions())
      end,
    })
  end
  vim.api.nvim_create_user_command('SidecarAgent', function(args) require('sidecar.agent').command(args) end, {
    nargs = '?', range = true,
    complete = function(lead)
      return vim.tbl_filter(function(word) return vim.startswith(word, lead) end, vim.tbl_keys(require('sidecar.agent').words))
    end,
  })
  vim.api.nvim_create_user_command('SidecarSkill', function(args) require('sidecar.agent').skill(args.args) end, { nargs = '?' })
  local group = vim.api.nvim_create_augroup('sidecar', {})
  vim.api.nvim_create_autocmd('BufReadCmd', {
    group = group, pattern = 'sidecar://agent/*',
    callback = function(event) require('sidecar.agent').read(event.buf) end,
  })
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
    group = group,
    callback = function(event) M.attach(event.buf) end,
  })
  local moves = 0 -- what is told is where the cursor rests
  vim.api.nvim_create_autocmd({ 'BufEnter', 'CursorMoved', 'ModeChanged' }, {
    group = group,
    callback = function(event)
      moves = moves + 1
      local now = moves
      vim.defer_fn(function()
        if now == moves and event.buf == vim.api.nvim_get_current_buf() then tell_selection(event.buf) end
      end, 100)
    end,
  })
  if M.config.lenses and vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true)
  elseif M.config.lenses then
    vim.api.nvim_create_autocmd('DiagnosticChanged', {
      group = group,
      callback = function(event)
        if event.buf == vim.api.nvim_get_current_buf() and M.client(event.buf) then vim.lsp.codelens.refresh() end
      end,
    })
  end
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) then M.attach(bufnr) end
  end
end

return M
