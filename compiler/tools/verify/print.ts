import type { Difference, Verdict } from './verify.ts'

/** A verdict for people: the difference first, then what was asked, then what was not. */
export function printVerdict(verdict: Verdict): string {
  const { role, schema, difference, notJudged } = verdict
  const documents = `${verdict.documents} documents, ${verdict.refused} of them refused`
  const asked = `${role} on schema ${schema}: ${documents}, on ${counted(verdict)}`
  return [
    `${asked}: ${difference === null ? 'no difference' : 'ANSWERED OTHERWISE'}`,
    ...(difference === null ? [] : ['', ...differenceLines(difference), '']),
    ...(verdict.skipped === 0 ? [] : [`  not judged: ${verdict.skipped} documents: ${skippedFor}`]),
    ...notJudged.map(({ object, reason }) => `  not judged: ${object}: ${reason}`),
  ].join('\n')
}

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
