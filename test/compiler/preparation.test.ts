import { expect, it } from 'vitest'
import { preparationNumber } from '../../compiler/following/prepare/preparation.ts'
import { prepareDatabase } from '../../compiler/following/prepare/prepare.ts'
import { migrationsFor } from '../../compiler/following/prepare/prepare-statements.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'

/** Each preparation, by its number, with the digest of its statements: a released one never changes. */
const digests: Readonly<Record<number, string>> = {
  1: '010e022aad0bbc40',
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
