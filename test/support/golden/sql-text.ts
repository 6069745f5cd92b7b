import type { BoundStatement } from '../../../runtime/contract/execution.ts'

/** Statements for people: one clause a line, sub-selects indented, and the parameters as comments in front. */
export const statementsText = (statements: readonly BoundStatement[]): string =>
  statements.map((statement) => `${parametersText(statement)}${formatSql(statement.text)};\n`).join('\n')

const parametersText = ({ values }: BoundStatement): string =>
  values.map((value, index) => `-- $${index + 1} = ${JSON.stringify(value)}\n`).join('')

/** Strings and quoted names (PostgreSQL manual 4.1), words, runs of white space, and everything else by itself. */
const token = /[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z_]\w*|\s+|[^]/g

/** Words that begin a clause. What follows the others, as FROM does in DELETE FROM, stays beside them. */
const clauses =
  /^(?:with|select|insert|update|delete|from|left|where|group|having|order|limit|offset|union|set|values|returning)$/
const joined: Readonly<Record<string, RegExp>> = { from: /^(?:delete|distinct)$/, select: /^all$/ }
const queries = /^(?:select|with|insert|update|delete)$/

/** Only line breaks and indentation change. */
function formatSql(sql: string): string {
  const tokens = sql.match(token) ?? []
  const wordAfter = (index: number): string => (tokens[index + 1] ?? '').toLowerCase()
  // Whether each open parenthesis holds a query.
  const open: boolean[] = []
  let text = ''
  let before = ''
  const breakLine = (): void => {
    text = `${text.trimEnd()}\n${'  '.repeat(open.filter(Boolean).length)}`
  }
  tokens.forEach((item, index) => {
    const inQuery = open.at(-1) ?? true
    if (item === '(') {
      open.push(queries.test(wordAfter(index)))
      text += item
    } else if (item === ')') {
      if (open.pop() === true) breakLine()
      text += item
    } else {
      const word = item.toLowerCase()
      if (inQuery && clauses.test(word) && text !== '' && joined[word]?.test(before) !== true) breakLine()
      text += item
    }
    if (item.trim() !== '') before = item.toLowerCase()
  })
  return text
}
