import { tryParseJson } from '../../../runtime/lib/json.ts'

/** What documents cost, written down: a file to commit, and to hold later states of the database and of the documents against. */
export interface Certificate {
  readonly format: 1
  /** Tables of so many rows are large: reading one from end to end is worth telling. */
  readonly large: number
  readonly operations: readonly CertifiedOperation[]
}

/** One operation of a document, as one role asks it. */
export interface CertifiedOperation {
  /** The file of the document. */
  readonly document: string
  /** Null where it has no name. */
  readonly operation: string | null
  readonly role: string
  /** What it costs, or why it is not answered. */
  readonly found: Cost | RefusedDocument
}

export interface RefusedDocument {
  readonly refused: string
}

/** Of the variables that were tried, the worst. */
export interface Cost {
  /** Rows that it may come to. */
  readonly rows: number
  /** Postgres' estimate for all of its statements, rounded up. */
  readonly cost: number
  /** The variables that it is estimated to cost as much with: pages are as large as they may be, filters are empty. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly indexes: readonly string[]
  /** Large tables that are read from end to end. */
  readonly scans: readonly string[]
}

export const keyOf = ({ document, operation, role }: CertifiedOperation): string =>
  JSON.stringify([document, operation, role])

export const isRefused = (found: Cost | RefusedDocument): found is RefusedDocument => 'refused' in found

/** The same costs give the same bytes. */
export const printCertificate = (certificate: Certificate): string => `${JSON.stringify(certificate, null, 2)}\n`

/** Null where a text is no certificate of this format. */
export function parseCertificate(text: string): Certificate | null {
  const value = tryParseJson(text) as Partial<Certificate> | null | undefined
  const isOne = value?.format === 1 && typeof value.large === 'number' && Array.isArray(value.operations)
  return isOne && value.operations.every(isOperation) ? (value as Certificate) : null
}

function isOperation(value: unknown): value is CertifiedOperation {
  const { document, operation, role, found } = (value ?? {}) as Partial<CertifiedOperation>
  const isNamed =
    typeof document === 'string' && typeof role === 'string' && (operation === null || typeof operation === 'string')
  if (!isNamed || typeof found !== 'object' || found === null) return false
  if (isRefused(found)) return typeof found.refused === 'string'
  const lists = [found.indexes, found.scans]
  return typeof found.rows === 'number' && typeof found.cost === 'number' && lists.every(isNames)
}

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === 'string')
