import type { EntityFacts, FunctionFacts } from '../../contract/manifest.ts'
import type { LiveRelation } from '../../contract/live.ts'

/** Whether a type or field can be watched, and the cost (spec/graphql.md 16, 17). */
export type LiveReport =
  | {
      readonly watchable: true
      /** Tables whose writes run a trigger for it, as `schema.name`; each includes its partitions and children. */
      readonly reads: readonly string[]
      /**
       * Columns whose values limit the watches that a change wakes; empty: every change of a read relation wakes every
       * watch.
       */
      readonly pins: readonly string[]
    }
  /** Sentences of spec/graphql.md 16.1. */
  | { readonly watchable: false; readonly reasons: readonly string[] }

/** Undefined if no facts are known. */
export function liveReport(facts: EntityFacts | FunctionFacts | undefined): { readonly live?: LiveReport } {
  const live = facts?.live
  if (live === undefined) return {}
  if ('refused' in live) return { live: { watchable: false, reasons: live.refused.map(({ sentence }) => sentence) } }
  return { live: { watchable: true, reads: live.reads.map(relationName), pins: live.own?.pins ?? [] } }
}

const relationName = ({ schema, name }: LiveRelation): string => `${schema}.${name}`
