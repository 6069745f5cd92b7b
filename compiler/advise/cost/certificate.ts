import { tryParseJson } from '../../../runtime/lib/json.ts'

/** The cost of documents in a file: to be committed, and compared with later states of database and documents. */
export interface Certificate {
  readonly format: 1
  /** Tables with so many rows are large: a sequential scan of one is reported. */
  readonly large: number
  readonly operations: readonly CertifiedOperation[]
}

/** One operation of a document, for one role. */
export interface CertifiedOperation {
  /** The file of the document. */
  readonly document: string
  /** Null if it has no name. */
  readonly operation: string | null
  readonly role: string
  /** Its cost, or its refusal. */
  readonly found: Cost | RefusedDocument
}

export interface RefusedDocument {
  readonly refused: string
}

/** The worst of the tried variables. */
export interface Cost {
  /** The maximum number of rows. */
  readonly rows: number
  /** The sum of Postgres' estimates for its statements, rounded up. */
  readonly cost: number
  /** The variables with this cost: pages have the maximum size, filters are empty. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly indexes: readonly string[]
  /** Sequential scans of large tables. */
  readonly scans: readonly string[]
}

export const certificateKey = ({ document, operation, role }: CertifiedOperation): string =>
  JSON.stringify([document, operation, role])

export const isRefused = (found: Cost | RefusedDocument): found is RefusedDocument => 'refused' in found

/** Equal costs give equal bytes. */
export const printCertificate = (certificate: Certificate): string => `${JSON.stringify(certificate, null, 2)}\n`

/** Null if a text is not a certificate of this format. */
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
