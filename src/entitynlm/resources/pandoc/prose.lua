-- Prose as prose: headings are marked by a sign for their level; lists, tables and block quotations become paragraphs.
local function flatten(items)
  local blocks = pandoc.Blocks({})
  for _, item in ipairs(items) do blocks:extend(item) end
  return blocks
end

function Header(header)
  header.content:insert(1, pandoc.Str(utf8.char(0xE000 + header.level)))
  return pandoc.Para(header.content)
end

function Table(found)
  local simple = pandoc.utils.to_simple_table(found)
  local blocks = flatten(simple.headers)
  for _, row in ipairs(simple.rows) do blocks:extend(flatten(row)) end
  return blocks
end

function BulletList(list) return flatten(list.content) end
function OrderedList(list) return flatten(list.content) end
function BlockQuote(quote) return quote.content end
function Figure(figure) return {} end
function Image(image) return {} end
function Note(note) return {} end
function HorizontalRule(rule) return {} end
