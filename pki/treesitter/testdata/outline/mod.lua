local M = {}
local limit = 3
Count = 0

--- Starts it.
-- With a port.
function M.start(port)
  local x = 1
  local function inner() end
end

function M.Deep:method(a, ...) end

local function helper(a, b) return a end

function global() end

M.stop = function(x) end
local run = function() end
local long = [==[ ]] ]==]

local t = {
  field = function() end,
  n = 1,
}

return M
