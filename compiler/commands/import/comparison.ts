import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, tryParseJson, type JsonObject } from '../../../runtime/lib/json.ts'
import { misuse } from '../command.ts'
import { readGiven } from '../given-documents.ts'
import { memberList, memberObject, memberText } from './imported.ts'

/** Documents of one caller, whose rows before and after are to be equal. */
export interface ComparedCaller {
  readonly role: string
  /** Claims of the token; with Hasura `session` has its variables. */
  readonly claims: JsonObject
  readonly session: Readonly<Record<string, string>>
  /** Headers for the old server. */
  readonly headers: Readonly<Record<string, string>>
  /** Null: the importer names documents itself. */
  readonly documents: readonly ComparedDocument[] | null
}

export interface ComparedDocument {
  readonly name: string
  /** The document for the old server. */
  readonly before: string | null
  /** The question here: a query of GraphQL, or of SQL. */
  readonly graphql: string | null
  readonly sql: string | null
  readonly variables: JsonObject
  /** The old answer, where no server is asked. */
  readonly expected: unknown
}

/** Rows, or why there are none. */
export type Rows = { readonly rows: readonly unknown[] } | { readonly refused: string }

export interface RowDifference {
  readonly role: string
  readonly document: string
  readonly difference: string
}

function toDocument(value: unknown, index: number, file: string): ComparedDocument {
  if (!isJsonObject(value)) throw misuse(`--compare: document ${index + 1} of ${file} is no object`)
  const [graphql, sql, before] = [memberText(value, 'graphql'), memberText(value, 'sql'), memberText(value, 'before')]
  const name = memberText(value, 'name') ?? `document ${index + 1}`
  if ((graphql === null) === (sql === null))
    throw misuse(`--compare: "${name}" of ${file} needs either "graphql" or "sql"`)
  return { name, before, graphql, sql, variables: memberObject(value, 'variables'), expected: value['expected'] }
}

function toCaller(value: unknown, file: string): ComparedCaller {
  const role = memberText(value, 'role')
  if (!isJsonObject(value) || role === null)
    throw misuse(`--compare: ${file} needs objects like {"role": "...", "claims": {...}, "documents": [...]}`)
  const texts = (member: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(memberObject(value, member)).map(([name, one]) => [name.toLowerCase(), String(one)] as const),
    )
  return {
    role,
    claims: memberObject(value, 'claims'),
    session: texts('session'),
    headers: texts('headers'),
    documents:
      value['documents'] === undefined
        ? null
        : memberList(value, 'documents').map((one, index) => toDocument(one, index, file)),
  }
}

/** The callers of a file, or of all JSON files of a folder. @throws CommandFailure that names file and member */
export function readCallers(path: string): readonly ComparedCaller[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const files = isFolder
    ? readdirSync(path)
        .filter((name) => name.endsWith('.json'))
        .toSorted()
        .map((name) => join(path, name))
    : [path]
  return files.flatMap((file) => {
    const value = tryParseJson(readGiven(file, '--compare'))
    if (value === undefined) throw misuse(`--compare: ${file} holds no JSON`)
    return (Array.isArray(value) ? value : [value]).map((one) => toCaller(one, file))
  })
}

/** Servers print numbers as JSON numbers or as texts. */
const scalarText = (value: unknown): unknown => {
  if (typeof value !== 'string' && typeof value !== 'number') return value
  const text = String(value)
  return /^-?\d+(?:\.\d+)?$/.test(text) && Number.isSafeInteger(Math.trunc(Number(text))) ? Number(text) : text
}

/** A value in which connections are lists, and lists and members have one order. */
function normalized(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(normalized).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (!isJsonObject(value)) return scalarText(value)
  if (Array.isArray(value['edges']))
    return normalized(value['edges'].map((edge: unknown) => (isJsonObject(edge) ? edge['node'] : edge)))
  const members = Object.entries(value).filter(([name]) => name !== '__typename')
  return Object.fromEntries(
    members.map(([name, one]) => [name, normalized(one)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

const rowList = (value: unknown): readonly unknown[] => {
  const plain = normalized(value)
  return Array.isArray(plain) ? plain : plain === null || plain === undefined ? [] : [plain]
}

/** An answer in GraphQL, or rows as they are; the names of root fields may differ. */
export function comparedRows(answer: unknown): Rows {
  if (!isJsonObject(answer) || !('data' in answer || 'errors' in answer)) return { rows: rowList(answer) }
  const [error] = memberList(answer, 'errors')
  if (error !== undefined) return { refused: memberText(error, 'message') ?? 'refused' }
  return { rows: Object.values(memberObject(answer, 'data')).flatMap(rowList) }
}

const missingIn = (some: readonly string[], others: readonly string[]): readonly string[] => {
  const left = [...others]
  return some.filter((one) => {
    const index = left.indexOf(one)
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}

/** The difference in one line; null: the same rows, or both refuse. */
export function differenceOf(before: Rows, after: Rows): string | null {
  if ('refused' in before && 'refused' in after) return null
  if ('refused' in before)
    return `refused before (${before.refused}), and ${'rows' in after ? after.rows.length : 0} rows after`
  if ('refused' in after) return `${before.rows.length} rows before, and refused after: ${after.refused}`
  const [old, now] = [before, after].map(({ rows }) => rows.map((row) => JSON.stringify(row))) as [string[], string[]]
  const [gone, come] = [missingIn(old, now), missingIn(now, old)]
  if (gone.length === 0 && come.length === 0) return null
  const example = (rows: readonly string[], word: string): string =>
    rows[0] === undefined ? '' : `; ${word} alone: ${rows[0]}`
  return `${old.length} rows before, ${now.length} after${example(gone, 'before')}${example(come, 'after')}`
}
