import { tryParseJson } from '../../../../runtime/lib/json.ts'

/** The cost of documents in a file: to be committed, and compared with later states of database and documents. */
export interface Certificate {
  readonly format: 1
  /** Tables with so many rows are large: a sequential scan of one is reported. */
  readonly large: number
  readonly operations: readonly CertifiedOperation[]
}

export interface CertifiedOperation {
  readonly document: string
  /** Null if it has no name. */
  readonly operation: string | null
  readonly role: string
  readonly found: Cost | RefusedDocument
}

export interface RefusedDocument {
  readonly refused: string
}

/** The worst of the tried variables. */
export interface Cost {
  readonly rows: number
  /** The sum of Postgres' estimates for its statements, rounded up. */
  readonly cost: number
  /** The variables with this cost: pages have the maximum size, filters are empty. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly indexes: readonly string[]
  readonly scans: readonly string[]
}

const certificateKey = ({ document, operation, role }: CertifiedOperation): string =>
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

interface CostDifference extends Omit<CertifiedOperation, 'found'> {
  /** Sentences about deteriorations. */
  readonly problems: readonly string[]
}

interface CostComparison {
  readonly dearer: readonly CostDifference[]
  /** Operations of the certificate that no longer exist. */
  readonly gone: readonly CertifiedOperation[]
}

/** Lower costs are ignored: one row by its key is estimated at 8. */
const leastCost = 10

/** The deteriorations since a certificate. @param factor by which cost and rows may grow without a report */
export function compareCosts(before: Certificate, now: Certificate, factor: number): CostComparison {
  const known = new Map(before.operations.map((one) => [certificateKey(one), one]))
  const present = new Set(now.operations.map(certificateKey))
  return {
    dearer: now.operations.flatMap(({ document, operation, role, found }) => {
      const problems = growthOf(known.get(certificateKey({ document, operation, role, found }))?.found, found, factor)
      return problems.length === 0 ? [] : [{ document, operation, role, problems }]
    }),
    gone: before.operations.filter((one) => !present.has(certificateKey(one))),
  }
}

type Found = CertifiedOperation['found']

function growthOf(before: Found | undefined, now: Found, factor: number): readonly string[] {
  if (before === undefined) return ['It is not in the certificate.']
  if (isRefused(before)) return []
  if (isRefused(now)) return [`It is refused: ${now.refused}`]
  return [
    ...grown('cost', before, now, factor),
    ...grown('rows', before, now, factor),
    ...without(before.indexes, now.indexes).map((name) => `It uses the index ${name} no more.`),
    ...without(now.scans, before.scans).map((name) => `It reads the large table ${name} from end to end.`),
  ]
}

function grown(what: 'cost' | 'rows', before: Cost, now: Cost, factor: number): readonly string[] {
  const allowed = (what === 'cost' ? Math.max(before.cost, leastCost) : before.rows) * factor
  if (now[what] <= allowed) return []
  const times =
    before[what] === 0 ? '' : `, ${(now[what] / before[what]).toFixed(1)} times as ${what === 'cost' ? 'much' : 'many'}`
  return [`Its ${what === 'cost' ? 'cost' : 'rows'} went from ${before[what]} to ${now[what]}${times}.`]
}

const without = (names: readonly string[], others: readonly string[]): readonly string[] =>
  names.filter((name) => !others.includes(name))

type Named = Pick<CertifiedOperation, 'document' | 'operation' | 'role'>

const nameOf = ({ document, operation, role }: Named): string =>
  `${document}${operation === null ? '' : `, ${operation}`}  (${role})`

export function printCosts({ operations }: Certificate, limit: number | undefined): string {
  const costOf = ({ found }: CertifiedOperation): number => (isRefused(found) ? -1 : found.cost)
  return [...operations]
    .sort((one, other) => costOf(other) - costOf(one))
    .flatMap((operation) => [nameOf(operation), ...certificateLines(operation, limit).map((line) => `  ${line}`)])
    .join('\n')
}

function certificateLines({ found }: CertifiedOperation, limit: number | undefined): readonly string[] {
  if (isRefused(found)) return [`refused: ${found.refused}`]
  const { cost, rows, variables, indexes, scans } = found
  const over = limit !== undefined && cost > limit ? `, more than the ${limit} that limits.cost allows` : ''
  return [
    `cost ${cost}${over}; ${rows} ${rows === 1 ? 'row' : 'rows'} at most`,
    ...(Object.keys(variables).length === 0 ? [] : [`with the variables ${JSON.stringify(variables)}`]),
    ...(indexes.length === 0 ? [] : [`indexes: ${indexes.join(', ')}`]),
    ...(scans.length === 0 ? [] : [`large tables read from end to end: ${scans.join(', ')}`]),
  ]
}

/** A comparison for people: first one sentence, then the increased costs. */
export function printCostComparison({ dearer, gone }: CostComparison, judged: number, factor: number): string {
  const operations = `${judged} ${judged === 1 ? 'operation' : 'operations'}`
  return [
    `${dearer.length} of ${operations} not as certified (${factor} times as dear is allowed)`,
    ...dearer.flatMap((one) => [`  ${nameOf(one)}`, ...one.problems.map((problem) => `    ${problem}`)]),
    ...gone.map((one) => `  ${nameOf(one)}: there no more`),
  ].join('\n')
}
