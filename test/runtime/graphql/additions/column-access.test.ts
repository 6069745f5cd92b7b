import { describe, expect, it } from 'vitest'
import { accessOf } from '../../../../runtime/engine/visible.ts'
import type { EntityFacts } from '../../../../runtime/contract/manifest.ts'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

const claim = `current_setting('request.jwt.claims', true)::json ->> 'sub'`

const sql = `
  comment on schema public is '@graphql({"introspection": true, "schemaReport": {"enabled": true}})';
  create table note (
    id int primary key, body text, author text default 'nobody', at float default 0, home point, secret text);
  grant select on note to anon, authenticated;
  grant insert, update on note to authenticated;
  grant insert (id, body) on note to anon;
  create table code (id int primary key, hash text);
  grant select, insert (id, hash) on code to anon;
`

describe('columns that are another thing for one role', () => {
  const service = forSuite(createTestService, { sql })

  const set = (settings: object, table = 'note') =>
    service.db
      .query(`select format('comment on table ${table} is %L', $1::text) as sql`, [
        `@graphql(${JSON.stringify(settings)})`,
      ])
      .then(({ rows }) => service.db.query(String(rows[0]?.['sql'])))
  let last = 0
  const insert = async (objects: number, role: string): Promise<unknown> => {
    const given = Array.from({ length: objects }, () => `{ id: ${(last += 1)}, body: "x" }`)
    const document = `mutation { insertIntonoteCollection(objects: [${given.join(', ')}]) { records { author at home } } }`
    const answer = dataOf(await service.graphql(document, { role, claims: { sub: 'ada' } }))
    return (answer as { insertIntonoteCollection: { records: unknown } }).insertIntonoteCollection.records
  }
  const inputs = async (role: string): Promise<readonly string[]> =>
    namesOf(await introspect(service, { role }), 'noteInsertInput')

  it('set presets as the caller, each row for its own, and only where the role may write the column', async () => {
    await set({ preset: { public: { author: claim, at: 'random()', home: "point '(1,2)'" } } })
    expect(await inputs('authenticated')).toEqual(['id', 'body', 'secret'])
    const rows = (await insert(3, 'authenticated')) as readonly { readonly author: string; readonly at: number }[]
    expect(rows.map(({ author }) => author)).toEqual(['ada', 'ada', 'ada'])
    expect(new Set(rows.map(({ at }) => at)).size).toBe(3)
    expect(rows[0]).toMatchObject({ home: '(1,2)' })
    expect(await insert(1, 'anon')).toEqual([{ author: 'nobody', at: 0, home: null }])
  })

  it('keeps a column from clients whose preset cannot be read, sets nothing, and says so', async () => {
    for (const bad of ["'x'); drop table note; --", 'author', '$1', '', 'now() at', { insert: 5 }, 7]) {
      await set({ preset: { authenticated: { author: bad } } })
      expect(await inputs('authenticated')).toEqual(['id', 'body', 'at', 'home', 'secret'])
      expect(await insert(1, 'authenticated')).toEqual([{ author: 'nobody', at: 0, home: null }])
      const { extensions } = await service.graphql('{ __typename }', { extensions: { schemaReport: true } })
      expect(JSON.stringify(extensions?.['schemaReport'])).toContain('table public.note')
    }
  })

  it('fails the request where the expression does, and keeps nothing', async () => {
    await set({ preset: { authenticated: { author: 'public.lost()' } } })
    const document = 'mutation { insertIntonoteCollection(objects: [{ id: 900 }]) { affectedCount } }'
    const answer = await service.graphql(document, { role: 'authenticated' })
    expect(answer.errors?.[0]?.extensions).toEqual({ code: 'DATABASE_REFUSED', sqlstate: '42883' })
    expect((await service.db.query('select from note where id = 900')).rows).toEqual([])
  })

  it('has no insert where nothing is left to give, and shows no write-only column', async () => {
    await set({ preset: { anon: { id: '1', hash: "'x'" } } }, 'code')
    expect(namesOf(await introspect(service), 'Mutation')).not.toContain('insertIntocodeCollection')
    await set({ writeOnly: { anon: ['hash'] } }, 'code')
    const written = 'mutation { insertIntocodeCollection(objects: [{ id: 1, hash: "h" }]) { records { id } } }'
    expect(dataOf(await service.graphql(written))).toEqual({ insertIntocodeCollection: { records: [{ id: 1 }] } })
    expect(messagesOf(await service.graphql('{ codeCollection { edges { node { hash } } } }'))).toEqual([
      'Cannot query field "hash" on type "code".',
    ])
  })
})

it('the setting of a role goes before that of others, and that of all roles is last', () => {
  const facts = (role: string, at: number) => ({
    role,
    withheld: [role],
    writeOnly: [],
    presets: [{ column: 'author', insert: at, update: null }],
  })
  const entity = { access: [facts('editors', 0), facts('eve', 1), facts('public', 2)] } as unknown as EntityFacts
  const presetOf = (...names: readonly string[]) => accessOf(names, entity).presets[0]?.insert
  expect(presetOf('eve', 'editors', 'public')).toBe(1)
  expect(presetOf('bob', 'editors', 'public')).toBe(0)
  expect(presetOf('bob', 'public')).toBe(2)
  expect([...accessOf(['eve', 'public'], entity).withheld].sort()).toEqual(['eve', 'public'])
})
