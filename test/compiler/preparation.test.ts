import { expect, it } from 'vitest'
import { createFollowedSource } from '../../compiler/following/serving/followed-source.ts'
import { createPrepareOnce } from '../../compiler/following/serving/prepare-once.ts'
import { preparationNumber } from '../../compiler/following/prepare/preparation.ts'
import { prepareDatabase } from '../../compiler/following/prepare/prepare.ts'
import { migrationsFor } from '../../compiler/following/prepare/prepare-statements.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'

/** Each preparation, by its number, with the digest of its statements: a released one never changes. */
const digests: Readonly<Record<number, string>> = {
  1: 'c31280b314b15784',
}

it('a preparation has a number of its own', () => {
  const statements = migrationsFor('authenticator').map(({ id, sql }) => [id, sql])
  const digest = sha256Hex(JSON.stringify(statements)).slice(0, 16)
  expect(Math.max(...Object.keys(digests).map(Number))).toBe(preparationNumber)
  expect(digest, 'Raise preparationNumber and add its digest; that of an unreleased number may be replaced').toBe(
    digests[preparationNumber],
  )
})

const db = forSuite(createDatabase, { prepare: true })
const otherBody = 'begin return true; end /* of another release */'
const put = (number: number): Promise<unknown> =>
  db.query(`create or replace function catalograph.current(version text, holders text, held text) returns boolean
    language plpgsql stable parallel safe as $$${otherBody}$$;
    comment on schema catalograph is 'preparation ${number}'`)
const bodyOf = async (): Promise<unknown> =>
  (await db.query("select prosrc from pg_proc where oid = 'catalograph.current(text,text,text)'::regprocedure")).rows[0]
const options = () => ({ url: db.ownerUrl, login: 'authenticator' })

it('a newer preparation stays, and an older one is replaced', async () => {
  await put(preparationNumber + 1)
  expect(await prepareDatabase(options())).toMatchObject({ ready: true })
  expect(await bodyOf()).toEqual({ prosrc: otherBody })
  await put(preparationNumber - 1)
  expect(await prepareDatabase(options())).toMatchObject({ ready: true })
  expect(await bodyOf()).not.toEqual({ prosrc: otherBody })
})

it('callers that come together prepare the database once, also after it was replaced', async () => {
  const noted: string[] = []
  const log = ({ kind }: { readonly kind: string }): void => void noted.push(kind)
  const prepare = createPrepareOnce({ ownerUrl: db.ownerUrl, loginUrl: db.url, log })
  const prepared = (): number => noted.filter((kind) => kind === 'database-prepared').length
  await withSession({ url: db.ownerUrl }, async (query) => {
    const source = createFollowedSource({ schemas: ['public'], query, prepare, log })
    await Promise.all([source(), source(), source()])
    expect(prepared()).toBe(1)
    await db.query('drop schema catalograph cascade')
    await Promise.all([source(true), source(true), source(true)])
    expect(prepared()).toBe(2)
  })
})
