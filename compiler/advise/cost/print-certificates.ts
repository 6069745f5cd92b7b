import { isRefused, type Certificate, type CertifiedOperation } from './certificate.ts'
import type { CostComparison } from './compare.ts'

type Named = Pick<CertifiedOperation, 'document' | 'operation' | 'role'>

const nameOf = ({ document, operation, role }: Named): string =>
  `${document}${operation === null ? '' : `, ${operation}`}  (${role})`

/** The cost of each operation, for people: the most expensive first. */
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
