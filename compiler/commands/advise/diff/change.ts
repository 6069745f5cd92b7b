/** The effect of a change on users of an API: the worst first. */
export const severities = ['breaking', 'dangerous', 'addition'] as const

export type Severity = (typeof severities)[number]

export interface ApiChange {
  readonly severity: Severity
  /** The kind of change, in capitals: those of graphql-js, and the keys of our own tables. */
  readonly kind: string
  readonly description: string
}
