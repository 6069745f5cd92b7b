import { once } from '../../lib/once.ts'
import type { Collection } from '../plan/types.ts'
import { compileFilter, type Condition } from './filter.ts'
import { directScope, where, type Scope, type Writer } from './source.ts'

/** What a collection is taken from. */
export interface Source {
  /** A relation's name, or a function call; to be asked for where it is written, since a call adds its arguments to the parameters. */
  readonly from: () => string
  readonly isFunction: boolean
  readonly volatile: boolean
  /** The condition that ties a row to its parent. */
  readonly condition: Condition | null
}

/** The rows that satisfy filter and parent, as something that can be read several times. */
export interface Matching {
  /** FROM and WHERE for an alias, with a further condition. */
  readonly read: (alias: string, extra: Condition | null) => { readonly scope: Scope; readonly from: string }
  /** Puts what belongs in front of the expression. */
  readonly wrap: (json: string) => string
}

/** @param reads how often the rows will be read */
export function matchingRows(writer: Writer, collection: Collection, source: Source, reads: number): Matching {
  // A parameter that no text mentions has no type, and Postgres refuses it: filters are compiled when something is read.
  const filter = once(() => (collection.filter === null ? null : compileFilter(collection.filter, writer)))
  // A function runs once per request, whatever is asked of its rows; a volatile one runs even when none of them is wanted.
  const runsOnce = source.isFunction && (reads > 1 || source.volatile)
  const rows = writer.alias('s')
  return {
    read: (alias, extra) => {
      const scope = directScope(writer, collection.entity, alias)
      const conditions = [source.condition, filter(), extra].map((condition) => condition?.(scope) ?? null)
      return { scope, from: `${runsOnce ? rows : source.from()} ${alias}${where(conditions)}` }
    },
    wrap: (json) => {
      if (!runsOnce) return json
      const run = source.volatile ? ` from (select count(*) from ${rows}) ran` : ''
      return `(with ${rows} as materialized (select * from ${source.from()} f) select ${json}${run})`
    },
  }
}
