import { groupBy } from '../../../runtime/lib/steps.ts'
import type { LiveReport } from '../../../runtime/graphql/report/report-live.ts'
import type { SchemaReport } from '../../../runtime/graphql/report/report.ts'

/** The report as lines for a terminal: missing objects with reasons, lost fields, advice. */
export const printReport = (report: SchemaReport): string =>
  [summary(report), ...sections(report)].filter((text) => text !== '').join('\n\n')

const countedInSchema = (list: readonly { readonly inSchema: boolean }[]): string =>
  `${list.filter(({ inSchema }) => inSchema).length} of ${list.length}`

const summary = ({ role, relations, functions }: SchemaReport): string =>
  `${role} finds ${countedInSchema(relations)} tables and views, and ${countedInSchema(functions)} functions`

interface Entry {
  readonly object: string
  readonly message: string
  readonly fix: string
}

const section = (title: string, entries: readonly Entry[]): string =>
  [`${title} (${entries.length})`, ...[...groupBy(entries, ({ message }) => message)].map(printAlike)].join('\n')

/** A message about several objects is printed once, and so is a common fix. */
function printAlike([message, entries]: readonly [string, readonly Entry[]]): string {
  const fixes = [...new Set(entries.map(({ fix }) => fix))]
  const isShared = entries.length > 1 && fixes.length === 1
  return [
    ...[message, ...(isShared ? fixes : [])].map((line) => `  ${line}`),
    ...entries.flatMap(({ object, fix }) => [`    ${object}`, ...(isShared ? [] : [`      ${fix}`])]),
  ].join('\n')
}

/** Each with the tables whose writes run triggers for it. */
const watchable = (objects: readonly { readonly object: string; readonly live?: LiveReport }[]): readonly string[] => {
  const entries = objects.flatMap(({ object, live }) =>
    live?.watchable === true
      ? [
          {
            object,
            message: `A write runs a trigger on: ${live.reads.join(', ') || 'nothing'}`,
            fix: wakesOf(live.pins),
          },
        ]
      : [],
  )
  return entries.length === 0 ? [] : [section('Can be watched', entries)]
}

const wakesOf = (pins: readonly string[]): string =>
  pins.length === 0
    ? 'Every change wakes everybody who watches it.'
    : `A filter on one of these wakes nobody for other rows: ${pins.join(', ')}`

const counts = (things: readonly unknown[], one: string, several: string): readonly string[] =>
  things.length === 0 ? [] : [`${things.length} ${things.length === 1 ? one : several}`]

/** Objects of extensions are counted: a line for each extension. */
function brought({ relations, functions }: Pick<SchemaReport, 'relations' | 'functions'>): readonly string[] {
  const absent = [...relations, ...functions].filter(({ inSchema }) => !inSchema)
  const lines = [...groupBy(absent, ({ extension }) => extension)].flatMap(([extension, group]) => {
    if (extension === undefined) return []
    const kinds = [
      ...counts(
        group.filter((one) => 'kind' in one),
        'table or view',
        'tables and views',
      ),
      ...counts(
        group.filter((one) => 'arguments' in one),
        'function',
        'functions',
      ),
    ]
    return [`  extension ${extension} brought ${kinds.join(' and ')}`]
  })
  return lines.length === 0 ? [] : [['Not in the API: what extensions brought', ...lines.sort()].join('\n')]
}

const sections = ({ relations, functions, remarks, advice }: SchemaReport): readonly string[] => {
  const absent = [...relations, ...functions].filter(({ inSchema, extension }) => !inSchema && extension === undefined)
  const missing = [...groupBy(absent, ({ reason }) => reason ?? '')].map(([reason, group]) =>
    section(
      `Not in the API: ${reason}`,
      group.map(({ object, message, fix }) => ({ object, message: message ?? '', fix: fix ?? '' })),
    ),
  )
  const problems = [...groupBy(advice, ({ problem }) => problem)].map(([problem, group]) =>
    section(
      `To mend: ${problem}`,
      group.map(({ object, message, sql }) => ({ object, message, fix: sql })),
    ),
  )
  const shown = remarks.filter(({ severity }) => severity !== 'info')
  const remarked = [...groupBy(shown, ({ code, severity }) => `${severity} ${code}`)].map(([title, group]) =>
    section(`Remarks: ${title}`, group),
  )
  return [
    ...missing,
    ...brought({ relations, functions }),
    ...remarked,
    ...watchable([...relations, ...functions]),
    ...problems,
  ]
}
