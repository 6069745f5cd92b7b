import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../runtime/lib/steps.ts'
import type { SchemaReport } from '../../../../runtime/graphql/report/report.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { catalogOf } from '../../../support/catalog.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lawMajors } from '../../../support/whole.ts'
import { createTestService } from '../../../support/service.ts'
import { annotate, buildModel } from '../../../support/with-additions.ts'

/**
 * Objects of extensions in a served schema (spec/graphql.md, decision 17): pg_trgm stands for PostGIS, which brings a
 * table too.
 */

const settings = (more: object): string =>
  `comment on schema public is '@graphql(${JSON.stringify({ introspection: true, inflect_names: true, schemaReport: { enabled: true }, ...more })})'`
const on = { enabled: true }

const sql = `
  create extension citext; create extension pg_trgm;
  create table mail (id int primary key, address citext);
  insert into mail values (1, 'Ada@X.io');
  create table brought (id int primary key);
  create function mine(int) returns int language sql stable as 'select $1';
  create function named(a int) returns int language sql volatile as 'select a';
  alter extension citext add table brought;
  alter extension citext add function named(int);
  grant all on mail, brought to anon;
`

interface Seen {
  readonly query: readonly string[]
  readonly mutation: readonly string[]
}

describe.each(lawMajors())('members of extensions on PostgreSQL %i', (major) => {
  const service = forSuite(createTestService, { major, sql })

  const seen = async (more: object): Promise<Seen> => {
    await service.db.query(settings(more))
    const schema = await introspect(service)
    return { query: namesOf(schema, 'Query'), mutation: namesOf(schema, 'Mutation') }
  }
  const told = async () => {
    const { annotated, diagnostics } = atOnce(annotate(await catalogOf(service.db)))
    return [...diagnostics, ...atOnce(atOnce(buildModel(annotated)).diagnose())].map(
      ({ code, object }) => `${code} ${object}`,
    )
  }

  it('are served like anything else', async () => {
    const { query, mutation } = await seen({})
    expect(query).toEqual(
      ['broughtByPk', 'broughtCollection', 'mailByPk', 'mailCollection', 'node', 'showLimit'].sort(),
    )
    expect(mutation).toContain('named')
  })

  it('are none of what functionShapes adds, unless their own comment names them', async () => {
    const without = await seen({})
    const added = await seen({ functionShapes: on })
    expect(added.query).toEqual([...without.query, 'mine'].sort())
    expect(added.mutation).toEqual(without.mutation)
    const superuser = service.db.superuser('comments on what an extension brought')
    await superuser.query(`comment on function similarity(text, text) is '@graphql({"name": "alike"})'`)
    expect((await seen({ functionShapes: on })).query).toContain('alike')
    const answer = await service.graphql('{ alike(arg1: "abc", arg2: "abc") }')
    expect(answer).toEqual({ data: { alike: 1 } })
    await superuser.query('comment on function similarity(text, text) is null')
  })

  it('are out where the schema says so, and their types stay', async () => {
    const { query, mutation } = await seen({ extensions: { enabled: false }, functionShapes: on })
    expect(query).toEqual(['mailByPk', 'mailCollection', 'mine', 'node'])
    expect(mutation.filter((name) => /brought|named|limit/i.test(name))).toEqual([])
    const page = await service.graphql(
      '{ mailCollection(filter: {address: {eq: "ada@x.io"}}) { edges { node { address } } } }',
    )
    expect(page).toEqual({ data: { mailCollection: { edges: [{ node: { address: 'Ada@X.io' } }] } } })
  })

  it('are followed: in and out of an extension', async () => {
    const off = { extensions: { enabled: false } }
    await service.db.query('alter extension citext drop table brought')
    expect((await seen(off)).query).toContain('broughtCollection')
    await service.db.query('alter extension citext add table brought')
    expect((await seen(off)).query).not.toContain('broughtCollection')
  })

  it('are shown by the report, which says what the role may call and how to take it out, and nowhere else', async () => {
    await seen({ functionShapes: on })
    expect((await told()).filter((line) => line.startsWith('function-hidden'))).toEqual([])
    const report = async (): Promise<SchemaReport & { advice: readonly Record<string, string>[] }> =>
      (await service.graphql('{ __typename }', { extensions: { schemaReport: true } })).extensions?.[
        'schemaReport'
      ] as never
    const { advice, functions } = await report()
    const found = advice.filter(({ problem }) => problem === 'what extensions brought is in the API')
    expect(found).toMatchObject([
      {
        object: 'schema public',
        message: expect.stringMatching(/^anon may call (.*, )?named, .*showLimit.*\.$/) as string,
      },
    ])
    expect(functions.find(({ object }) => object.startsWith('function public.citext_hash('))).toMatchObject({
      reason: 'not served',
      message: 'An extension brought it.',
    })
    await service.db.query(found[0]?.['sql'] ?? '')
    expect(namesOf(await introspect(service), 'Query')).toEqual(['mailByPk', 'mailCollection', 'mine', 'node'])
    expect((await report()).advice.filter(({ problem }) => problem === found[0]?.['problem'])).toEqual([])
  })
})
