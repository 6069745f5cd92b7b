import type { EntityFacts, FunctionFacts } from '../../contract/manifest.ts'
import type { LiveRelation } from '../../contract/live.ts'

/** Whether something can be watched, and what that costs (spec/graphql.md 16, 17). */
export type LiveReport =
  | {
      readonly watchable: true
      /** Tables whose writes run a trigger for it, as `schema.name`; each stands for its partitions and heirs, too. */
      readonly reads: readonly string[]
      /**
       * Columns by which a change of other rows wakes nobody; empty: every change of what it reads wakes everybody who watches
       * it.
       */
      readonly pins: readonly string[]
    }
  /** Sentences of spec/graphql.md 16.1. */
  | { readonly watchable: false; readonly reasons: readonly string[] }

/** Nothing where nothing is known of it. */
export function liveReport(facts: EntityFacts | FunctionFacts | undefined): { readonly live?: LiveReport } {
  const live = facts?.live
  if (live === undefined) return {}
  if ('refused' in live) return { live: { watchable: false, reasons: live.refused.map(({ sentence }) => sentence) } }
  return { live: { watchable: true, reads: live.reads.map(nameOf), pins: live.own?.pins ?? [] } }
}

const nameOf = ({ schema, name }: LiveRelation): string => `${schema}.${name}`
