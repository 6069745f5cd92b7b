import { severities, type Severity } from './change.ts'
import type { Comparison, RoleChange } from './compare.ts'

const headings: Readonly<Record<Severity, string>> = {
  breaking: 'Breaking',
  dangerous: 'Dangerous',
  addition: 'Additions',
}

export function printComparison(comparison: Comparison): string {
  const { changes, documents } = comparison
  return [
    summary(comparison),
    ...severities.slice(0, 1).flatMap((severity) => section(headings[severity], linesOf(changes, severity))),
    ...section('Documents that stop working', documents.broken.flatMap(brokenLines)),
    ...severities.slice(1).flatMap((severity) => section(headings[severity], linesOf(changes, severity))),
    ...section('Privileges', privilegeLines(comparison)),
    ...section(
      'Documents that did not work before',
      documents.invalid.flatMap(({ source, problems }) => [source, ...problems.map((problem) => `  ${problem}`)]),
    ),
  ].join('\n')
}

function summary({ changes, documents }: Comparison): string {
  const [breaking = 0, dangerous = 0, additions = 0] = severities.map(
    (severity) => changes.filter((change) => change.severity === severity).length,
  )
  const counted = `${breaking} breaking, ${dangerous} dangerous, ${countText(additions, 'addition')}`
  if (documents.judged === 0) return counted
  const broken = new Set(documents.broken.map(({ source }) => source)).size
  return `${counted}; ${broken} of ${countText(documents.judged, 'document')} stop${broken === 1 ? 's' : ''} working`
}

const countText = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

const section = (heading: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', heading, ...lines.map((line) => `  ${line}`)]

const linesOf = (changes: readonly RoleChange[], severity: Severity): readonly string[] =>
  changes
    .filter((change) => change.severity === severity)
    .map(({ description, roles }) => `${description}  (${roles.join(', ')})`)

const brokenLines = ({ source, roles, operation, problems }: Comparison['documents']['broken'][number]): string[] => [
  `${source}${operation === null ? '' : `, ${operation}`}  (${roles.join(', ')})`,
  ...problems.map((problem) => `  ${problem}`),
]

const privilegeLines = ({ privileges }: Comparison): readonly string[] =>
  Object.entries(privileges).flatMap(([role, { gained, lost }]) => [
    ...gained.map((privilege) => `${role} gained ${privilege}`),
    ...lost.map((privilege) => `${role} lost ${privilege}`),
  ])
