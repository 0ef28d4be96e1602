-- sidecar-ls for Neovim 0.7 and later. Everything here is plain LSP: the
-- pending hunks are diagnostics, code actions and code lenses of the server,
-- and each command below is one workspace/executeCommand.
--
--   require('sidecar').setup({ cmd = { 'sidecar-ls' } })

local M = { config = { cmd = { 'sidecar-ls', 'serve' }, root_markers = { '.sidecar', '.git' }, settings = vim.empty_dict() } }

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
  for _, client in pairs(vim.lsp.get_active_clients()) do
    if client.name == 'sidecar' and (not bufnr or vim.lsp.buf_is_attached(bufnr, client.id)) then return client end
  end
end

-- Attaches a buffer, starting the server for its project when it is the first.
function M.attach(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if vim.bo[bufnr].buftype ~= '' or name == '' then return end
  local root = root_of(vim.fn.fnamemodify(name, ':p:h'))
  for _, client in pairs(vim.lsp.get_active_clients()) do
    if client.name == 'sidecar' and client.config.root_dir == root and not client.is_stopped() then
      vim.lsp.buf_attach_client(bufnr, client.id)
      return client.id
    end
  end
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  local id = vim.lsp.start_client({
    name = 'sidecar',
    cmd = M.config.cmd,
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fn.fnamemodify(root, ':t') } },
    capabilities = capabilities,
    init_options = { sidecar = M.config.settings },
  })
  if id then vim.lsp.buf_attach_client(bufnr, id) end
  return id
end

-- Runs one command of the server; done(result) is called when it has answered.
function M.execute(command, argument, done)
  local client = M.client(vim.api.nvim_get_current_buf()) or M.client()
  if not client then
    vim.notify('sidecar-ls is not running: open a file of the project first', vim.log.levels.WARN)
    return
  end
  client.request('workspace/executeCommand', { command = command, arguments = { argument or vim.empty_dict() } }, function(err, result)
    if err then
      vim.notify('sidecar: ' .. (err.message or vim.inspect(err)), vim.log.levels.ERROR)
    elseif done then
      done(result)
    end
  end)
end

-- Calls a tool and gives its ToolResult to done.
function M.call(tool, arguments, done)
  M.execute('sidecar.tools.call', { name = tool, arguments = arguments or vim.empty_dict() }, done)
end

local function show(lines, filetype)
  vim.cmd('botright new')
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.bo.filetype, vim.bo.modifiable = filetype, false
end

local function this_file() return vim.uri_from_bufnr(0) end

-- Tells what could not be accepted, and why.
local function report(result)
  for _, failure in ipairs(result and result.failed or {}) do
    vim.notify('sidecar: ' .. vim.uri_to_fname(failure.uri) .. ': ' .. failure.error, vim.log.levels.WARN)
  end
end

-- The pending hunk under the cursor, or the next one below it.
local function with_hunk(act)
  local uri, line = this_file(), vim.api.nvim_win_get_cursor(0)[1]
  M.execute('sidecar.review.list', nil, function(list)
    local found
    for _, edit in ipairs(list.edits) do
      if edit.uri == uri then
        for _, hunk in ipairs(edit.hunks) do
          local last = hunk.oldStart + math.max(hunk.oldLines, 1) - 1
          if not found and last >= line then found = hunk end
        end
      end
    end
    if not found then
      vim.notify('sidecar: no pending hunk at or below the cursor')
    else
      act(found, list.revision)
    end
  end)
end

local commands = {
  SidecarAccept = function() with_hunk(function(h, rev) M.execute('sidecar.review.accept', { hunks = { h.id }, revision = rev }, report) end) end,
  SidecarReject = function() with_hunk(function(h, rev) M.execute('sidecar.review.reject', { hunks = { h.id }, revision = rev }) end) end,
  SidecarAcceptFile = function() M.execute('sidecar.review.accept', { uris = { this_file() } }, report) end,
  SidecarRejectFile = function() M.execute('sidecar.review.reject', { uris = { this_file() } }) end,
  SidecarAcceptAll = function() M.execute('sidecar.review.accept', nil, report) end,
  SidecarRejectAll = function() M.execute('sidecar.review.reject', nil) end,
  SidecarUndo = function() M.execute('sidecar.review.undo', nil, report) end,
  SidecarDiff = function()
    M.execute('sidecar.review.diff', nil, function(r) show(vim.split(r.diff, '\n'), 'diff') end)
  end,
  -- Every pending hunk in the quickfix list.
  SidecarReview = function()
    M.execute('sidecar.review.list', nil, function(list)
      local items = {}
      for _, edit in ipairs(list.edits) do
        for _, hunk in ipairs(edit.hunks) do
          local text = string.format('%s +%d -%d %s', edit.kind, hunk.newLines, hunk.oldLines, hunk.state)
          table.insert(items, { filename = vim.uri_to_fname(edit.uri), lnum = math.max(hunk.oldStart, 1), text = text })
        end
      end
      vim.fn.setqflist({}, ' ', { title = 'Pending changes', items = items })
      if #items > 0 then vim.cmd('copen') else vim.notify('sidecar: nothing is pending') end
    end)
  end,
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
    if vim.tbl_isempty(arguments) then arguments = vim.empty_dict() end
    M.call(name, arguments, function(r) show(vim.split(r.content, '\n'), '') end)
  end,
}

function M.setup(opts)
  M.config = vim.tbl_deep_extend('force', M.config, opts or {})
  for name, run in pairs(commands) do
    vim.api.nvim_create_user_command(name, run, { nargs = '*' })
  end
  local group = vim.api.nvim_create_augroup('sidecar', {})
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
    group = group,
    callback = function(event) M.attach(event.buf) end,
  })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) then M.attach(bufnr) end
  end
end

return M
