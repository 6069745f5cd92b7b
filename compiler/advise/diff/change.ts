/** How much a change asks of those who use an API: the worst first. */
export const severities = ['breaking', 'dangerous', 'addition'] as const

export type Severity = (typeof severities)[number]

/** One thing that is different for a role. */
export interface ApiChange {
  readonly severity: Severity
  /** What kind of change, in capitals: those of the reference implementation, and the keys of our own tables. */
  readonly kind: string
  readonly description: string
}
