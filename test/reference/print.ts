import { groupBy } from '../../runtime/lib/steps.ts'
import type { Difference, Verdict } from './verify.ts'

/** A verdict for people: first the differences, then the judged parts, then the others. */
export function printVerdict(verdict: Verdict): string {
  const { role, schema, differences, notJudged } = verdict
  const documents = `${verdict.documents} documents, ${verdict.refused} of them refused`
  const asked = `${role} on schema ${schema}: ${documents}, on ${counted(verdict)}`
  return [
    `${asked}: ${headline(differences.length)}`,
    ...differences.flatMap((difference) => ['', ...differenceLines(difference)]),
    ...(differences.length === 0 ? [] : ['']),
    ...(verdict.skipped === 0 ? [] : [`  not judged: ${verdict.skipped} documents: ${skippedFor}`]),
    ...[...groupBy(notJudged, ({ reason }) => reason)].map(
      ([reason, group]) => `  not judged: ${someOf(group.map(({ object }) => object))}: ${reason}`,
    ),
  ].join('\n')
}

const headline = (differences: number): string =>
  differences === 0 ? 'no difference' : `ANSWERED OTHERWISE (${differences})`

/** A readable number; JSON has all. */
const mostNamed = 3

const someOf = (names: readonly string[]): string =>
  names.length <= mostNamed + 1
    ? names.join(', ')
    : `${names.slice(0, mostNamed).join(', ')} and ${names.length - mostNamed} more`

const skippedFor = 'they reach rows that were not read, or that changed meanwhile'

const counted = ({ tables, rows }: Verdict): string => `${tables} tables with ${rows} rows`

const differenceLines = ({ message, document, operationName, variables }: Difference): readonly string[] => [
  `  ${message}`,
  ...document
    .trim()
    .split('\n')
    .map((line) => `    ${line}`),
  ...(operationName === null ? [] : [`  operation ${operationName}`]),
  `  variables ${JSON.stringify(variables)}`,
]
