import { describe, expect, it } from 'vitest'
import type { RequestContext } from '../../../../runtime/contract/execution.ts'
import { createCell, type Running } from '../../../../runtime/graphql/run/request-state.ts'
import { createDatabase } from '../../../support/database.ts'
import { followDatabase, type FollowedService } from '../../../support/followed.ts'
import { forSuite } from '../../../support/for-suite.ts'

/** Requests that meet changes of the schema again and again (spec/graphql.md 1.1). */

const db = forSuite(createDatabase, {
  prepare: true,
  sql: `create table note (id int primary key, body text);
    create table other (id int primary key);
    insert into note values (1, 'a');
    grant select on note, other to anon`,
})

const read = '{ noteCollection { edges { node { body } } } }'
const answer = { data: { noteCollection: { edges: [{ node: { body: 'a' } }] } } }

/** A service whose requests meet a change of a table before each of so many exchanges. */
const whileChanging = async (
  times: number,
  work: (service: FollowedService) => Promise<void>,
  change = (left: number) => `comment on table note is 'change ${left}'`,
): Promise<void> => {
  let left = 0
  const asking = async (): Promise<void> => {
    if (left <= 0) return
    left -= 1
    await db.query(change(left))
  }
  const service = followDatabase(db.url, { asking })
  try {
    await service.graphql(read)
    left = times
    await work(service)
  } finally {
    await service.close()
  }
}

const untilIn = (ms: number): RequestContext => ({
  party: 'test',
  kind: 'stranger',
  deadline: performance.now() + ms,
  timeline: null,
  position: null,
  aborted: false,
  onAbort: null,
})

describe('a request that meets changes of its schema', () => {
  it('is answered after twenty of them', async () => {
    await whileChanging(20, async ({ graphql }) => {
      expect(await graphql(read, { context: untilIn(30_000) })).toEqual(answer)
    })
  })

  it('is refused at its deadline if they do not end', async () => {
    await whileChanging(Infinity, async ({ graphql }) => {
      expect((await graphql(read, { context: untilIn(500) })).errors).toEqual([
        {
          message: 'The database schema kept changing while the request was tried; nothing was done.',
          extensions: { code: 'SCHEMA_CHANGED' },
        },
      ])
    })
  })

  it('is given up if its client leaves', async () => {
    const context = untilIn(30_000)
    await whileChanging(Infinity, async ({ graphql }) => {
      setTimeout(() => (context.aborted = true), 100)
      expect((await graphql(read, { context })).errors?.[0]?.extensions.code).toBe('DEADLINE_EXCEEDED')
    })
  })
})

describe('a request beside changes of another table', () => {
  const changeOther = (left: number): string => `alter table other add column c_${left} int`
  const readOther = '{ otherCollection { edges { node { id c_0 } } } }'

  it('waits for no compile', async () => {
    await whileChanging(
      5,
      async ({ graphql, compiled }) => {
        const before = compiled()
        expect(await graphql(read)).toEqual(answer)
        expect(compiled()).toBe(before)
      },
      changeOther,
    )
    await db.query('alter table other drop column c_0')
  })

  it('shows that table as it is to the next request that concerns it', async () => {
    const service = followDatabase(db.url)
    try {
      expect((await service.graphql(readOther)).errors?.[0]?.message).toMatch('Cannot query field "c_0"')
      await db.query('alter table other add column c_0 int')
      expect(await service.graphql(read)).toEqual(answer)
      expect((await service.graphql(readOther)).data).toEqual({ otherCollection: { edges: [] } })
      await db.query('alter table other drop column c_0')
      expect(await service.graphql(read)).toEqual(answer)
      expect((await service.graphql(readOther)).errors?.[0]?.message).toMatch('Cannot query field "c_0"')
    } finally {
      await service.close()
    }
  })

  it('refuses a skipped field that is gone', async () => {
    const service = followDatabase(db.url)
    const skipping = `{ noteCollection { edges { node { body } } } otherCollection @skip(if: true) { edges { node { c_0 } } } }`
    try {
      await db.query('alter table other add column c_0 int')
      expect(await service.graphql(skipping)).toEqual(answer)
      await db.query('alter table other drop column c_0')
      expect((await service.graphql(skipping)).errors?.[0]?.message).toMatch('Cannot query field "c_0"')
    } finally {
      await service.close()
    }
  })
})

it('a compile that ends after a later state was seen takes its version', async () => {
  const at = (version: string): Running => ({
    engine: { revision: '', version, privileges: () => undefined as never, manifest: {} },
    isFallback: false,
  })
  let end: (made: Running) => void = () => undefined
  const compile = new Promise<Running>((resolve) => (end = resolve))
  const loads = [Promise.resolve(at('1')), compile]
  const keep = (one: Running): Promise<Running> => Promise.resolve({ ...one, engine: { ...one.engine, version: '3' } })
  const cell = createCell<Running>(() => loads.shift() ?? compile, Date.now, { keep })
  const first = await cell.current()
  const compiled = cell.after(first, true)
  expect((await cell.after(first, false)).engine.version).toBe('3')
  end(at('2'))
  expect((await compiled).engine.version).toBe('3')
})
