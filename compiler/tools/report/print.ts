import { groupBy } from '../../../runtime/lib/group-by.ts'
import type { SchemaReport } from '../../../runtime/graphql/extensions/report.ts'

/** The report as lines for a terminal: what is missing and why, what was lost, what to mend. */
export const printReport = (report: SchemaReport): string =>
  [summary(report), ...sections(report)].filter((text) => text !== '').join('\n\n')

const counted = (list: readonly { readonly inSchema: boolean }[]): string =>
  `${list.filter(({ inSchema }) => inSchema).length} of ${list.length}`

const summary = ({ role, relations, functions }: SchemaReport): string =>
  `${role} finds ${counted(relations)} tables and views, and ${counted(functions)} functions`

interface Entry {
  readonly object: string
  readonly lines: readonly string[]
}

const printEntry = ({ object, lines }: Entry): string =>
  [`  ${object}`, ...lines.map((line) => `      ${line}`)].join('\n')

const section = (title: string, entries: readonly Entry[]): string =>
  entries.length === 0 ? '' : [`${title} (${entries.length})`, ...entries.map(printEntry)].join('\n')

const sections = ({ relations, functions, remarks, advice }: SchemaReport): readonly string[] => {
  const absent = [...relations, ...functions].filter(({ inSchema }) => !inSchema)
  const missing = [...groupBy(absent, ({ reason }) => reason ?? '')].map(([reason, group]) =>
    section(
      `Not in the API: ${reason}`,
      group.map(({ object, message, fix }) => ({ object, lines: [message ?? '', fix ?? ''] })),
    ),
  )
  const problems = [...groupBy(advice, ({ problem }) => problem)].map(([problem, group]) =>
    section(
      `To mend: ${problem}`,
      group.map(({ object, message, sql }) => ({ object, lines: [message, sql] })),
    ),
  )
  const told = remarks.filter(({ severity }) => severity !== 'info')
  const remarked = [...groupBy(told, ({ code, severity }) => `${severity} ${code}`)].map(([title, group]) =>
    section(
      `Remarks: ${title}`,
      group.map(({ object, message, fix }) => ({ object, lines: [message, fix] })),
    ),
  )
  return [...missing, ...remarked, ...problems]
}
