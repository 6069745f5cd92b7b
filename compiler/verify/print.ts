import type { Verdict } from './verify.ts'

/** A verdict for people: the difference first, then what was asked, then what was not. */
export function printVerdict(verdict: Verdict): string {
  const { role, schema, difference, notJudged } = verdict
  const asked = `${role} on schema ${schema}: ${verdict.documents} documents, ${verdict.refused} of them refused, on ${counted(verdict)}`
  return [
    `${asked}: ${difference === null ? 'no difference' : 'ANSWERED OTHERWISE'}`,
    ...(difference === null ? [] : ['', ...differenceLines(difference), '']),
    ...notJudged.map(({ object, reason }) => `  not judged: ${object}: ${reason}`),
  ].join('\n')
}

const counted = ({ tables, rows }: Verdict): string => `${tables} tables with ${rows} rows`

const differenceLines = ({ message, document, operationName, variables }: NonNullable<Verdict['difference']>): string[] => [
  `  ${message}`,
  ...document.trim().split('\n').map((line) => `    ${line}`),
  ...(operationName === null ? [] : [`  operation ${operationName}`]),
  `  variables ${JSON.stringify(variables)}`,
]
