import { isRefused, certificateKey, type Certificate, type CertifiedOperation, type Cost } from './certificate.ts'

/** An operation that the certificate lacks, or has with other costs. */
export interface CostDifference extends Omit<CertifiedOperation, 'found'> {
  /** Sentences about deteriorations. */
  readonly problems: readonly string[]
}

export interface CostComparison {
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
