import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCompiler, type Compiled } from '../../compiler/compile.ts'
import { writtenExpression } from '../../compiler/catalog/written.ts'
import { createFollower } from '../../compiler/following/serving/followed-source.ts'
import type { Revision, RevisionSource } from '../../runtime/contract/artifact.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import { DatabaseFailure } from '../../runtime/db/failures/failures.ts'
import { versionExpression } from '../../runtime/db/check/version.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

setFlagsFromString('--allow-natives-syntax')
const haveSameMap = runInThisContext('(a, b) => %HaveSameMap(a, b)') as (a: unknown, b: unknown) => boolean

let database: TestDatabase
beforeEach(async () => {
  database = await createDatabase({
    prepare: true,
    sql: `create table one (id int primary key);
      create table two (id int primary key);
      grant select on one, two to anon`,
  })
})
afterEach(() => database.drop())

const idsIn = (entities: Revision['entities']): readonly string[] => entities.map(({ id }) => id)
const moduleOf = ({ entities }: Revision, name: string): string | undefined =>
  entities.find(({ id }) => id === objectId('public', name))?.text

const compiler = (): ReturnType<typeof createCompiler> =>
  createCompiler({ query: database.query, schemas: ['public'], version: versionExpression })

/** The share of objects that V8 reads as it reads the one before: else each takes several times its memory, and time. */
const alike = (objects: readonly object[]): number =>
  objects.slice(1).filter((object, index) => haveSameMap(object, objects[index])).length / objects.length

describe('a compiler', () => {
  it('goes through every stage and says how long each took', async () => {
    const { timings, revision, model } = await compiler().compile()
    expect(timings.map(({ stage }) => stage)).toEqual(['catalog', 'comments', 'model', 'emit'])
    expect(timings.every(({ ms }) => ms >= 0)).toBe(true)
    expect(idsIn(revision.entities)).toEqual(model.manifest.entities.map(({ id }) => id))
  })

  it('gives the same revision from the same schema as any other compiler', async () => {
    const one = compiler()
    const first = await one.compile()
    const bytes = (await first.artifacts()).files
    expect((await one.compile()).revision).toEqual(first.revision)
    const other = await compiler().compile()
    expect((await other.artifacts()).files).toEqual(bytes)
  })

  it('makes objects that share a hidden class, where there are thousands', async () => {
    // V8 decides after some.
    const tables = Array.from(
      { length: 40 },
      (_, index) => `create table many_${index} (id int primary key default 0, one_id int);`,
    )
    await database.query(tables.join(''))
    const { annotated, model } = await compiler().compile()
    const { manifest, entities } = model
    for (const list of [annotated.relations, manifest.entities, entities]) {
      expect(alike(list)).toBeGreaterThan(0.8)
      expect(alike(list.flatMap((item): readonly object[] => item.columns))).toBeGreaterThan(0.8)
    }
  })

  it('keeps the modules of tables that did not change', async () => {
    const one = compiler()
    const before = await one.compile()
    await database.query('alter table two add column name text')
    const after = await one.compile()
    expect(after.revision.id).not.toBe(before.revision.id)
    expect(moduleOf(after.revision, 'one')).toBe(moduleOf(before.revision, 'one'))
    expect(moduleOf(after.revision, 'two')).toContain('"name"')
    expect(after.revision).toEqual((await compiler().compile()).revision)
  })

  it('keeps the modules of tables that refer to one that is called otherwise', async () => {
    await database.query('create table of_two (id int primary key, two_id int references two)')
    const [one, id] = [compiler(), objectId('public', 'of_two')]
    const before = await one.compile()
    await database.query(`comment on table two is '@graphql({"name": "Second"})'`)
    const after = await one.compile()
    const facts = ({ model }: Compiled) => model.manifest.entities.find((entity) => entity.id === id)
    expect(facts(after)).not.toEqual(facts(before))
    const sql = ({ model }: Compiled) => model.entities.find((entity) => entity.id === id)
    expect(sql(after)).toBe(sql(before))
    expect(after.revision).toEqual((await compiler().compile()).revision)
  })

  it('keeps what tables are that refer to one that changed, unless they see the change', async () => {
    await database.query('create table of_two (id int primary key, big_two_id int references two)')
    const one = compiler()
    const factsOf = (name: string, { model }: Compiled) =>
      model.manifest.entities.find(({ id }) => id === objectId('public', name))
    const before = await one.compile()
    await database.query('alter table two add column name text')
    const wider = await one.compile()
    expect(factsOf('two', wider)?.columns).toHaveLength(2)
    expect(factsOf('of_two', wider)).toBe(factsOf('of_two', before))
    await database.query(`comment on table two is '@graphql({"name": "Second"})'`)
    const renamed = await one.compile()
    expect(factsOf('of_two', renamed)).not.toEqual(factsOf('of_two', wider))
    expect(renamed.revision).toEqual((await compiler().compile()).revision)
    await database.query(`comment on schema public is '@graphql({"inflect_names": true})'`)
    const inflected = await one.compile()
    expect(factsOf('of_two', inflected)?.relations.map(({ field }) => field)).toEqual(['bigTwo'])
    expect(inflected.revision).toEqual((await compiler().compile()).revision)
  })
})

describe('a follower', () => {
  let compiled: Compiled[]
  let clock = 0
  const follow = (
    change: (compiling: () => Promise<Compiled>) => Promise<Compiled> = (run) => run(),
  ): RevisionSource => {
    compiled = []
    const { compile, readAhead } = compiler()
    return createFollower({
      compiler: { compile: () => change(compile), readAhead },
      query: database.query,
      version: versionExpression,
      guarded: true,
      now: () => clock,
      report: (done) => compiled.push(done),
    })
  }

  it('compiles once for the same version', async () => {
    const source = follow()
    const first = await source()
    expect(await source()).toBe(first)
    expect(compiled).toHaveLength(1)
  })

  it('compiles again when the schema changed, temporary tables aside', async () => {
    const source = follow()
    const first = await source()
    await database.query('create temp table passing (id int)')
    expect(await source()).toBe(first)
    await database.query('create table three (id int primary key)')
    const second = await source()
    expect(second.version).not.toBe(first.version)
    expect(idsIn(second.entities)).toContain(objectId('public', 'three'))
    expect(compiled).toHaveLength(2)
  })

  it('compiles once for many who ask at the same time', async () => {
    const source = follow()
    const all = await Promise.all(Array.from({ length: 20 }, () => source()))
    expect(new Set(all).size).toBe(1)
    expect(compiled).toHaveLength(1)
  })

  it('shows a change to those who ask after it, though a compile was running', async () => {
    let started: () => void = () => undefined
    const running = new Promise<void>((resolve) => (started = resolve))
    let proceed: () => void = () => undefined
    const changed = new Promise<void>((resolve) => (proceed = resolve))
    const source = follow(async (run) => {
      const done = await run()
      started()
      await changed
      return done
    })
    const early = source()
    await running
    await database.query('create table late (id int primary key)')
    const late = source()
    proceed()
    expect(idsIn((await early).entities)).not.toContain(objectId('public', 'late'))
    expect(idsIn((await late).entities)).toContain(objectId('public', 'late'))
  })

  it('hands over the revision before when a compile fails, for the new version, and tries again after a pause', async () => {
    let broken = false
    let tries = 0
    const source = follow((run) => {
      tries += 1
      return broken ? Promise.reject(new Error('catalogue cannot be read')) : run()
    })
    const first = await source()
    broken = true
    expect(await source()).toBe(first)
    await database.query('create table three (id int primary key)')
    const second = await source()
    expect(second).toEqual({ ...first, version: second.version, failure: 'catalogue cannot be read' })
    expect(second.version).not.toBe(first.version)
    expect([await source(), tries]).toEqual([second, 2])
    broken = false
    clock += 5_000
    const third = await source()
    expect([third.failure, idsIn(third.entities).includes(objectId('public', 'three'))]).toEqual([undefined, true])
  })

  it('rejects when nothing was ever compiled, and when the database is away', async () => {
    let failure: Error | null = new Error('catalogue cannot be read')
    const source = follow((run) => (failure === null ? run() : Promise.reject(failure)))
    await expect(source()).rejects.toThrow('catalogue cannot be read')
    failure = null
    await source()
    failure = new DatabaseFailure('unavailable', 'away', null, null)
    await database.query('create table three (id int primary key)')
    await expect(source()).rejects.toThrow('away')
  })

  it('hands over no version where requests cannot check one, and still compiles only after changes', async () => {
    const one = createCompiler({ query: database.query, schemas: ['public'], version: writtenExpression })
    let count = 0
    const source = createFollower({
      compiler: one,
      query: database.query,
      version: writtenExpression,
      guarded: false,
      report: () => count++,
    })
    const first = await source()
    expect([await source(), first.version, count]).toEqual([first, null, 1])
    await database
      .superuser('sets session_replication_role')
      .query('set session_replication_role = replica; create table three (id int primary key)')
    expect(idsIn((await source()).entities)).toContain(objectId('public', 'three'))
    expect(count).toBe(2)
  })
})
