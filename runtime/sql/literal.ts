import type { SqlText } from './tree.ts'

/**
 * A string constant in SQL text, for names that stand as data (node ids, enum labels); users' values are parameters
 * instead. Text with a backslash is written as an escape string, so that it means the same whatever
 * standard_conforming_strings says. Source: PostgreSQL manual, 4.1.2 Constants.
 */
export const literal = (text: string): SqlText => {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return (text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted) as SqlText
}
