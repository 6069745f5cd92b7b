/**
 * Formats SQL for people: a short query on one line, a longer one with a line for each clause and indented parts. Only
 * white space between tokens changes.
 */
export const legibleSql = (sql: string): string => linesOf(clausesOf(nested(tokensOf(sql))), '').join('\n')

/** The maximum length of a line that can be broken. */
const width = 140

/** Strings and quoted names (PostgreSQL manual 4.1), words, white space, and single other characters. */
const token = /[eE]'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z_]\w*|\s+|[^]/g

const tokensOf = (sql: string): readonly string[] =>
  (sql.match(token) ?? []).map((item) => (item.trim() === '' ? ' ' : item))

/** A token, or the content of parentheses. */
type Part = string | readonly Part[]

function nested(tokens: readonly string[]): readonly Part[] {
  const open: Part[][] = [[]]
  for (const item of tokens) {
    const last = open.at(-1)
    if (item === '(') open.push([])
    else if (item === ' ' && last?.length === 0) continue
    else if (item === ')' && open.length > 1) {
      open.pop()
      open.at(-1)?.push(last?.at(-1) === ' ' ? last.slice(0, -1) : (last ?? []))
    } else open.at(-1)?.push(item)
  }
  return open.length === 1 ? (open[0] ?? []) : open.flatMap((parts, depth) => (depth === 0 ? parts : ['(', ...parts]))
}

const flat = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : `(${flat(part)})`)).join('')

/** Words that begin a clause. Some of them stay on the line of a preceding word, for example FROM in DELETE FROM. */
const beginsClause =
  /^(?:with|select|insert|update|delete|from|left|where|group|having|order|limit|offset|union|set|values|returning)$/i
const joined: Readonly<Record<string, RegExp>> = {
  from: /^(?:delete|distinct|rows)$/,
  select: /^all$/,
  group: /^within$/,
}
const query = /^(?:select|with|insert|update|delete)$/i

/** The clauses of a query; other texts are one clause. */
function clausesOf(parts: readonly Part[]): readonly (readonly Part[])[] {
  if (!isQuery(parts)) return [parts]
  const clauses: Part[][] = [[]]
  let before = ''
  for (const part of parts) {
    const word = typeof part === 'string' ? part.toLowerCase() : ''
    if (beginsClause.test(word) && before !== '' && joined[word]?.test(before) !== true) clauses.push([])
    clauses.at(-1)?.push(part)
    if (word !== ' ') before = word === '' ? ')' : word
  }
  return clauses
}

const isClause = ([first]: readonly Part[]): boolean => typeof first === 'string' && beginsClause.test(first)
const isQuery = ([first]: readonly Part[]): boolean => typeof first === 'string' && query.test(first)

function linesOf(clauses: readonly (readonly Part[])[], indent: string): readonly string[] {
  const whole = clauses.map(flat).join('').trim()
  if (clauses.length > 1 && indent.length + whole.length <= width) return [`${indent}${whole}`]
  const lines: string[] = []
  let isWhole = false
  for (const clause of clauses) {
    const [first = '', ...others] = clauseLines(clause, indent)
    const before = lines.at(-1)?.trim() ?? ''
    const beside = `${before} ${first.trim()}`
    const fits = indent.length + beside.length <= width
    if (isWhole && fits && staysBeside(before, beside, others.length > 0))
      lines.splice(-1, 1, `${indent}${beside}`, ...others)
    else lines.push(first, ...others)
    isWhole = others.length === 0
  }
  return lines
}

/** Short clauses share a line, and FROM may follow a short SELECT. */
const staysBeside = (before: string, beside: string, isBroken: boolean): boolean =>
  isBroken ? before.length < 40 && /^select\b.* from\b/.test(beside) : beside.length <= 90

/** A clause on one line if it fits, else with as many of its items per line as fit. */
function clauseLines(clause: readonly Part[], indent: string): readonly string[] {
  const whole = flat(clause).trim()
  if (indent.length + whole.length <= width) return [`${indent}${whole}`]
  const inner = isClause(clause) ? `${indent}  ` : indent
  const lines: string[] = []
  let line = indent
  let isBroken = false
  itemsOf(clause).forEach((item, place) => {
    const text = flat(item).trim()
    if (!isBroken && place > 0 && line.length + 1 + text.length <= width) {
      line += ` ${text}`
      return
    }
    if (place > 0) lines.push(line)
    const broken = itemLines(item, place === 0 ? indent : inner)
    lines.push(...broken.slice(0, -1))
    line = broken.at(-1) ?? ''
    isBroken = broken.length > 1
  })
  return [...lines, line].map((one) => one.trimEnd())
}

/** Items with their trailing commas. */
function itemsOf(parts: readonly Part[]): readonly (readonly Part[])[] {
  const items: Part[][] = [[]]
  for (const part of parts) {
    items.at(-1)?.push(part)
    if (part === ',') items.push([])
  }
  return items
}

/** A long item is broken within its parentheses, from the outermost that contain a query or several items. */
function itemLines(item: readonly Part[], indent: string): readonly string[] {
  const lines: string[] = []
  let line = indent
  const trimmed = item[0] === ' ' ? item.slice(1) : item
  trimmed.forEach((part, place) => {
    if (typeof part === 'string') {
      line += part
      return
    }
    const text = `(${flat(part)})`
    const after = flat(trimmed.slice(place + 1)).length
    const fits = line.length + text.length + (after > width ? 0 : after) <= width
    if (fits || !isBreakable(part)) {
      line += text
      return
    }
    const { parts, depth } = unwrapped(part)
    lines.push(`${line}${'('.repeat(depth)}`, ...linesOf(clausesOf(parts), `${indent}  `))
    line = `${indent}${')'.repeat(depth)}`
  })
  return [...lines, line]
}

/** The content of parentheses without other parts. */
function unwrapped(parts: readonly Part[], depth = 1): { readonly parts: readonly Part[]; readonly depth: number } {
  const [only] = parts
  return parts.length !== 1 || only === undefined || typeof only === 'string'
    ? { parts, depth }
    : unwrapped(only, depth + 1)
}

const isBreakable = (parts: readonly Part[]): boolean =>
  isQuery(parts) || parts.some((part) => part === ',' || (typeof part !== 'string' && isBreakable(part)))
