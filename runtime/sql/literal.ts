import type { SqlText } from './tree.ts'

/**
 * A string constant in SQL text, for names that are data (node ids, enum labels); users' values are parameters. Text
 * with a backslash is written as an escape string, so that it means the same under both values of
 * standard_conforming_strings. Source: PostgreSQL manual, 4.1.2 Constants.
 */
export const literal = (text: string): SqlText => {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return (text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted) as SqlText
}
