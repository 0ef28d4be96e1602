-- Texts of models and programs, made harmless: what can't be seen or would
-- change how the rest looks is written as ‹U+202E›, and long lines are broken.

local M = {}

local function shown(code) return string.format('‹U+%04X›', code) end

-- Ranges of what can't be seen, or moves what can.
local hidden = {
  { 0x80, 0x9f }, { 0xad, 0xad }, { 0x34f, 0x34f }, { 0x61c, 0x61c }, { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180e },
  { 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },
  { 0xfff9, 0xfffb }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
}

local function is_hidden(code)
  for _, range in ipairs(hidden) do
    if code < range[1] then return false end
    if code <= range[2] then return true end
  end
end

local function code_of(char)
  local lead, size = char:byte(), #char
  local code = lead % (size == 2 and 0x20 or size == 3 and 0x10 or 0x08)
  for i = 2, size do code = code * 64 + char:byte(i) % 64 end
  return code
end

-- Emoji are joined and coloured by characters that can't be seen: those stay
-- behind another character than those of ASCII.
local joins = { [0x200d] = true, [0xfe0f] = true }

-- Text with every character in sight; line feeds and tabs stay.
function M.visible(text)
  text = text:gsub('\r\n', '\n')
  if not text:find('[%z\1-\8\11-\31\127-\255]') then return text end
  text = text:gsub('[%z\1-\8\11-\31\127]', function(char) return shown(char:byte()) end)
  local after = 0 -- where the last character that joins may follow ends
  return (text:gsub('()([\194-\244][\128-\191]+)()', function(at, char, behind)
    local code = code_of(char)
    if is_hidden(code) and not (joins[code] and after == at) then return shown(code) end
    after = behind
  end))
end

-- Whether text has characters that can't be seen.
function M.hides(text) return M.visible(text) ~= text:gsub('\r\n', '\n') end

-- Output of a program without its colours.
function M.plain(text) return (text:gsub('\27%[[%d;:]*m', '')) end

-- Text in one line of at most so many characters.
function M.line(text, limit)
  text = vim.trim(M.visible(text or ''):gsub('%s*\n%s*', ' '))
  return vim.fn.strchars(text) > limit and vim.fn.strcharpart(text, 0, limit - 1) .. '…' or text
end

local longest = 2000 -- characters of a line

-- Adds text to lines, whose last one it goes on with.
function M.append(lines, text)
  local first = true
  for _, part in ipairs(vim.split(M.visible(text), '\n', { plain = true })) do
    if first and #lines > 0 then lines[#lines] = lines[#lines] .. part else table.insert(lines, part) end
    first = false
    while #lines[#lines] > longest and vim.fn.strchars(lines[#lines]) > longest do
      local line = lines[#lines]
      lines[#lines] = vim.fn.strcharpart(line, 0, longest)
      table.insert(lines, vim.fn.strcharpart(line, longest))
    end
  end
  return lines
end

function M.lines(text) return M.append({}, text) end

-- The lines without empty ones at their end.
function M.trimmed(lines)
  local last = #lines
  while last > 0 and not lines[last]:find('%S') do last = last - 1 end
  return vim.list_slice(lines, 1, last)
end

-- The lines by which two texts differ, from the first such line to the last one:
-- those removed and those added.
function M.difference(old, new)
  local function split(text)
    local lines = M.lines(text)
    if lines[#lines] == '' then table.remove(lines) end
    return lines
  end
  local a, b = split(old or ''), split(new)
  local from, more = 1, 0
  while from <= #a and from <= #b and a[from] == b[from] do from = from + 1 end
  while #a - more >= from and #b - more >= from and a[#a - more] == b[#b - more] do more = more + 1 end
  return vim.list_slice(a, from, #a - more), vim.list_slice(b, from, #b - more)
end

return M
