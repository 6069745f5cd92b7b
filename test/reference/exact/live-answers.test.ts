import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashOf, isListed } from '../interpreter/allowlist.ts'
import type { Question, TableSketch, World } from '../interpreter/world.ts'
import { withoutHeirs } from './worlds/heirs.ts'
import { worlds } from './worlds/world.ts'
import { createDatabase, overSessions, type TestDatabase } from '../../support/database.ts'
import { dataSql, listSql, schemaSql } from './ddl.ts'
import { allChanges, changesOfRights } from './live/changes.ts'
import { compileQuestions } from './live/compiled.ts'
import { play, type Play, type Played } from './live/play.ts'
import { drawQuestions } from './live/questions.ts'
import { widened } from './live/worlds.ts'
import { drawBy } from './live/writers.ts'
import { createRandom, type Random } from '../../support/random.ts'
import { createTestService } from '../../support/service.ts'
import { whileServed } from '../../support/while-served.ts'
import { sized } from '../../support/whole.ts'

/**
 * Promise: each answer of a stream equals that of a query at its moment, in the order of commits; after the last commit the last
 * answer is that of a query after it (spec/graphql.md 16.2). Random subscriptions on random catalogues, watched by random
 * roles while programs and mutations write and the owner changes tables, columns, views, grants, policies, limits, lists and
 * settings; policies, views and functions read other tables, tokens end, and a service has room for few. The reference
 * interpreter says what each commit made of them. In every other world one of the services has nothing but the compiled
 * subscriptions, which are compiled again after each change: these are changes of rights and of views, since it is settled by
 * artifacts what else a document means. Long form: npm run test:live -- --minutes N --seed S.
 */
const seed = Number(process.env['LIVE_SEED'] ?? '900020')
const minutes = Number(process.env['LIVE_MINUTES'] ?? sized(0.1, 0.05))
/** Per world, for which services must be started. */
const playMs = Math.min(minutes * 30_000, 20_000)
/** The number of worlds that includes one with a service of compiled documents, and one without. */
const fewestWorlds = 2

/** `explain` differs each time. */
const played = (drawn: World): World => {
  const { explain: _, ...world } = withoutHeirs(drawn)
  return { ...world, live: true, tables: world.tables.map(partitioned) }
}

/** A table with possible partitions: unique keys would have to contain its key, and some keys have no hash. */
const partitioned = (table: TableSketch, place: number): TableSketch => {
  const keyTypes = table.columns.filter(({ name }) => table.primaryKey.includes(name)).map(({ type }) => type)
  const isHashed = keyTypes.every(({ base, list }) => !list && ['int4', 'int8', 'text', 'uuid'].includes(base))
  return place % 2 === 0 && isHashed && table.uniques.length === 0 ? { ...table, partitioned: true } : table
}

const inUtc = `do $$ begin execute format('alter database %I set timezone to ''UTC''', current_database()); end $$;
  set timezone to 'UTC';`

/** Ends connections of the services occasionally. */
const outages =
  (db: TestDatabase, random: Random): NonNullable<Play['trouble']> =>
  async (isOver) => {
    while (!isOver()) {
      await pause(random(800))
      const which = ["state = 'idle'", 'true', `wait_event_type = 'Lock'`, 'random() < 0.5'][random(4)]
      await overSessions(db).query(`select pg_terminate_backend(pid) from pg_stat_activity
        where usename = 'authenticator' and datname = current_database() and ${which}`)
    }
  }

interface Refused {
  readonly errors: readonly { readonly message: string; readonly extensions: { readonly code: string } }[]
}

async function playWorld(worldSeed: number): Promise<Played | null> {
  const [sampled] = fc.sample(worlds.map(played), { seed: worldSeed, numRuns: 1 })
  const random = createRandom(worldSeed)
  // Geometries need PostGIS.
  if (sampled === undefined || sampled.geo === true) return null
  const drawn = widened(drawBy(random), sampled)
  const questions = drawQuestions(drawn, random)
  if (questions.watched.length === 0) return null
  const db = await createDatabase({ prepare: true, sql: [inUtc, schemaSql(drawn), dataSql(drawn)].join('\n') })
  for (const { document } of drawn.allowlist === undefined ? [] : questions.watched)
    if (isListed(drawn, document)) await db.query(listSql, [hashOf(document), document])
  // Fewer than the watchers, who then find a place at the other service.
  const most = worldSeed % 4 === 1 ? 3 : null
  const reference = await createTestService({ withTriggers: true, database: { ...db, drop: () => Promise.resolve() } })
  const compiled = worldSeed % 2 === 1 ? await compileQuestions(db.query, reference.revision, questions.watched) : null
  const readOne = async ({ document, ...asked }: Question): Promise<readonly string[] | null> => {
    const { operationName, ...ask } = asked
    for (;;) {
      const found = await reference.watch(document, { ...ask, ...(operationName !== null && { operationName }) })
      if (found.kind !== 'refused') return null
      const { errors } = JSON.parse(found.response.body.toString()) as Refused
      // The document was not read if a connection ended in between.
      if (errors.every(({ extensions }) => extensions.code !== 'DATABASE_UNAVAILABLE'))
        return errors.map(({ message }) => message)
    }
  }
  const read: Play['read'] = async (all) => {
    // Execution needs the current schema; reading does not.
    await reference.graphql('{ __typename }')
    const verdicts = await Promise.all(all.map(readOne))
    await compiled?.compile()
    return verdicts
  }
  const trouble = worldSeed % 3 === 0 ? outages(db, random) : null
  let result: Played | null = null
  try {
    await whileServed(db, most === null ? {} : { LIVE_STREAMS: `${most}` }, (one) =>
      whileServed(
        db,
        {},
        async (other) => {
          const urls = [one.url, other.url]
          const { ownerUrl } = db
          const changes = compiled === null ? allChanges : changesOfRights
          result = await play({
            world: drawn,
            questions,
            ownerUrl,
            urls,
            read,
            changes,
            random,
            ms: playMs,
            most,
            trouble,
          })
        },
        compiled === null ? [] : ['--artifacts', compiled.folder, '--only-compiled'],
      ).then(() => undefined),
    )
  } finally {
    await compiled?.remove()
    await reference.close()
    await db.drop()
  }
  return result
}

test(
  `the streams answer what the database was, in its order (LIVE_SEED=${seed})`,
  { timeout: minutes * 60_000 + 120_000 },
  async () => {
    const end = performance.now() + minutes * 60_000
    const tally = { worlds: 0, answers: 0, refusals: 0, commits: 0, changes: 0 }
    for (let next = seed; performance.now() < end || tally.worlds < fewestWorlds; next += 1) {
      const found = await playWorld(next)
      if (found === null) continue
      tally.worlds += 1
      if (process.env['LIVE_MINUTES'] !== undefined)
        console.info(`live: world ${next}`, { ...found, problems: found.problems.length })
      for (const name of ['answers', 'refusals', 'commits', 'changes'] as const) tally[name] += found[name]
      const again = `npm run test:live -- --seed ${next}`
      expect(found.problems.slice(0, 3).map((problem) => `${problem}\n${again}`)).toEqual([])
    }
    console.info(`live: LIVE_SEED=${seed}`, tally)
    expect(tally.answers).toBeGreaterThan(20)
  },
)
