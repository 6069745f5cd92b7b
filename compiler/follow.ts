import type { Revision, RevisionSource } from '../runtime/contract/revision.ts'
import type { CatalogQuery } from './catalog/read.ts'
import type { Compiled, Compiler } from './compile.ts'

export interface FollowOptions {
  readonly compiler: Compiler
  readonly query: CatalogQuery
  /** SQL expression for the schema version; null: nothing counts changes, and every call compiles. */
  readonly version: string | null
  /** Told about each compile that went through, with what there is to say about it. */
  readonly report: (compiled: Compiled) => void
}

/**
 * The newest revision of a database that may change at any time.
 *
 * It compiles only when the version moved on, and never twice at once. A call that comes while a compile runs may be
 * about a change that this compile has not seen; so it waits and then looks at the version again, together with all
 * others that came meanwhile. A compile that fails rejects, and the revision before stays: it is handed over again as
 * long as it is the database's.
 */
export function createFollower({ compiler, query, version, report }: FollowOptions): RevisionSource {
  let last: Revision | null = null
  let queued: Promise<Revision> | null = null
  let settled: Promise<unknown> = Promise.resolve()

  const refresh = async (): Promise<Revision> => {
    if (last !== null && version !== null && last.version === (await readVersion(query, version))) return last
    const compiled = await compiler.compile()
    last = compiled.revision
    report(compiled)
    return last
  }
  return () => {
    if (queued === null) {
      queued = settled.then(() => {
        queued = null
        return refresh()
      })
      settled = queued.catch(() => undefined)
    }
    return queued
  }
}

async function readVersion(query: CatalogQuery, version: string): Promise<unknown> {
  const { rows } = await query(`select (${version})::text as version`, [])
  return rows[0]?.['version'] ?? null
}
