import { isJsonObject, type JsonObject } from '../../../runtime/lib/json.ts'

/** A statement to review, below lines that say where it comes from. */
export interface ImportedStatement {
  readonly remarks: readonly string[]
  /** Without the final semicolon. */
  readonly sql: string
}

/** The result of an importer. */
export interface Imported {
  readonly statements: readonly ImportedStatement[]
  /** Steps for a person after them; absent: none. */
  readonly steps?: readonly string[]
  /** Everything that the statements do not carry, one line each. */
  readonly left: readonly string[]
  /** One line: what was carried. */
  readonly summary: string
}

/** A part of the source that cannot be carried; the message says why. */
export class NotCarried extends Error {
  override readonly name = 'NotCarried'
}

const commentLines = (text: string): string => text.replaceAll(/^/gm, '-- ').replaceAll(/ +$/gm, '')

const printStatement = ({ remarks, sql }: ImportedStatement): string =>
  [...remarks.map(commentLines), `${sql};`].join('\n')

/** SQL that psql runs in one transaction, and below it one list of what is left out. */
export const printImported = ({ statements, steps = [], left, summary }: Imported): string =>
  [
    commentLines(summary),
    ...(statements.length === 0 ? [] : ['begin;', ...statements.map(printStatement), 'commit;']),
    ...(steps.length === 0 ? [] : [commentLines(`Steps:\n${steps.join('\n')}`)]),
    ...(left.length === 0 ? [] : [commentLines(`Not carried:\n${left.map((line) => `* ${line}`).join('\n')}`)]),
  ].join('\n\n')

/** Members of values of unknown form: an empty value where the form is another. */
export const memberObject = (value: unknown, member: string): JsonObject => {
  const found = isJsonObject(value) ? value[member] : undefined
  return isJsonObject(found) ? found : {}
}

export const memberList = (value: unknown, member: string): readonly unknown[] => {
  const found = isJsonObject(value) ? value[member] : undefined
  return Array.isArray(found) ? found : []
}

export const memberObjects = (value: unknown, member: string): readonly JsonObject[] =>
  memberList(value, member).filter(isJsonObject)

export const memberText = (value: unknown, member: string): string | null => {
  const found = isJsonObject(value) ? value[member] : undefined
  return typeof found === 'string' && found !== '' ? found : null
}
