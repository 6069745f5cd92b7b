import { postgisMajor } from '../../support/clusters.ts'
import { openAsked } from '../../support/asked.ts'
import { createTestService, type Answer, type AskedService, type TestService } from '../../support/service.ts'
import type { Store } from '../interpreter/store.ts'
import type { Json, Question, TableSketch, World } from '../interpreter/world.ts'
import { hashOf, isListed } from '../interpreter/allowlist.ts'
import { dataSql, dumpSql, listSql, resetSql, schemaSql } from './ddl.ts'

/** An existing World: a separate database with the service. */
export interface Stage<S extends AskedService = AskedService> {
  readonly world: World
  readonly service: S
  readonly ask: (question: Question) => Promise<Answer>
  /** The rows of each table, regardless of privileges. */
  readonly dump: () => Promise<ReadonlyMap<string, readonly Json[]>>
  /** Restores the rows. */
  readonly reset: () => Promise<void>
  /** The same database with the rows of another World of the same catalogue. */
  readonly holding: (world: World) => Promise<Stage<S>>
  readonly close: () => Promise<void>
}

/** An exception of the service would be an internal error; here it is a wrong answer. */
const crashed = (error: unknown): Answer => ({
  data: null,
  errors: [
    {
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      extensions: { code: 'INTERNAL' },
    },
  ],
})

const noPostgis = (): never => {
  throw new Error('PostGIS is installed for no server of this run.')
}

/** Times are written in UTC in every session. */
const settings = `do $$ begin execute format('alter database %I set timezone to ''UTC''', current_database()); end $$; set timezone to 'UTC';`

export type OpenStage = (world: World) => Promise<Stage>

const optionsOf = (world: World) => ({
  ...(world.geo === true && { major: postgisMajor() ?? noPostgis() }),
  sql: `${settings}\n${schemaSql(world)}\n${dataSql(world)}`,
})

const stageOf = <S extends AskedService>(world: World, service: S): Stage<S> =>
  stageOn(world, service, async (held) => {
    await service.db.superuser('fills tables with foreign keys at rest').query(resetSql(held))
  })

export const openStage = async (world: World): Promise<Stage<TestService>> =>
  stageOf(world, await createTestService({ ...optionsOf(world), withTriggers: world.live === true }))

/** In the topology of the run. */
export const openChosenStage: OpenStage = async (world) => stageOf(world, await openAsked(optionsOf(world)))

/** @param putBack replaces the rows by those of a World of the same catalogue */
export function stageOn<S extends AskedService>(
  world: World,
  service: S,
  putBack: (world: World) => Promise<void>,
): Stage<S> {
  const rowsOf = async (table: TableSketch): Promise<readonly Json[]> =>
    (await service.db.query(dumpSql(table))).rows[0].rows as readonly Json[]
  /** Lists a document if it belongs there: its hash can then replace it. */
  const listed = async (document: string): Promise<string | null> => {
    if (!isListed(world, document)) return null
    await service.db.query(listSql, [hashOf(document), document])
    return hashOf(document)
  }
  const stage: Stage<S> = {
    world,
    service,
    ask: async ({ document, variables, operationName, role, claims }) => {
      const hash = await listed(document)
      const extensions = {
        ...(world.explain && { explain: true }),
        ...(world.schemaReport && { schemaReport: true }),
        ...(hash !== null && { persistedQuery: { version: 1, sha256Hash: hash } }),
      }
      const live = world.live === true
      const options = { variables, role, claims, extensions, live, ...(operationName !== null && { operationName }) }
      return service.graphql(hash === null ? document : null, options).catch(crashed)
    },
    dump: async () => {
      const dumped: [string, readonly Json[]][] = []
      for (const table of world.tables.filter(({ view }) => view === undefined))
        dumped.push([table.name, await rowsOf(table)])
      return new Map(dumped)
    },
    reset: () => putBack(world),
    holding: async (other) => {
      if (other === world) return stage
      const next = stageOn(other, service, putBack)
      await next.reset()
      return next
    },
    close: service.close,
  }
  return stage
}

/** The expected result of `dump`. */
export const dumpOf = (world: World, store: Store): ReadonlyMap<string, readonly Json[]> =>
  new Map(
    world.tables.map((table) => [
      table.name,
      (store.rows.get(table.name) ?? []).map((row) => table.columns.map((column) => row.get(column.name) ?? null)),
    ]),
  )
