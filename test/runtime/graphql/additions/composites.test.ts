import { describe, expect, it } from 'vitest'
import { argument, arrayOf, column, composite, fn, schema, table } from '../../../support/catalog-literal.ts'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { fieldsOf, introspect } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'
import { build } from '../../../compiler/model/build.ts'

const on = '@graphql({"composites": {"enabled": true}})'

describe('composites: the setting', () => {
  const address = composite('address', { street: 'text', point: 'point_2d', 'no name': 'int4', parts: '_point_2d' })
  const point = composite('point_2d', { x: 'float8' })
  const built = (comment: string | null) =>
    build({
      schemas: [schema('public', comment)],
      types: [address, point, arrayOf(point)],
      relations: [table('person', [column('id', 'int4', { notNull: true }), column('home', 'address')])],
      functions: [fn('home_of', [argument('id')], 'address'), fn('takes', [argument('home', 'address')])],
    })
  const typeOf = (comment: string | null) => built(comment).entity('person').columns[1]?.type

  it('is off until the schema switches it on', () => {
    expect([typeOf(null), built(null).functionFields]).toEqual([undefined, []])
    expect(built(null).model.manifest).not.toHaveProperty('composites')
    expect(typeOf('@graphql({"composites": {"enabled": false}})')).toBeUndefined()
    expect([typeOf(on), built(on).functionFields]).toEqual([
      { kind: 'composite', id: '["public","address"]', list: false },
      ['home_of'],
    ])
  })

  it('serves attributes with a type and a name, and is not an input', () => {
    const [first] = built(on).model.manifest.composites ?? []
    expect(first?.fields.map(({ field }) => field)).toEqual(['street', 'point'])
    expect(built(on).entity('person').columns[1]).toMatchObject({ filter: true, order: false, input: false })
  })

  it('lets a comment name the type, and reports what has no name of GraphQL', () => {
    const named = (comment: string | null, setting = on) =>
      build({
        schemas: [schema('public', setting)],
        types: [composite("co'mp", { x: 'int4', 'no name': 'int4', odd: 'row:t' }, { comment })],
        relations: [table('t', [column('id', 'int4', { notNull: true }), column('c', "co'mp")])],
      })
    const fine = named('@graphql({"name": "Comp"})')
    expect(fine.model.manifest.composites).toMatchObject([{ name: 'Comp', fields: [{ field: 'x' }] }])
    const tellings = ({ diagnostics }: ReturnType<typeof named>) =>
      diagnostics.map(({ code, object }) => `${code}: ${object}`)
    const attributes = [
      `attribute-unusable: attribute public."co'mp"."no name"`,
      `column-unmapped: attribute public."co'mp".odd`,
    ]
    expect(tellings(fine)).toEqual(attributes)
    expect(named(null).model.manifest.composites).toEqual([])
    expect(tellings(named(null))).toEqual([`name-unusable: type public."co'mp"`])
    expect(tellings(named('@graphql({"mappings": {}})'))).toContain(`comment-key-misplaced: type public."co'mp"`)
    expect(tellings(named('@graphql({"name": "Comp"})', ''))).toContain(`comment-key-misplaced: type public."co'mp"`)
    // It never was a reason to fail a request.
    expect(named('@graphql(x)').model.manifest.refusal).toBeNull()
  })

  it('is reported where it is misspelt, ill-typed or in the wrong place', () => {
    const told = (ofSchema: string | null, ofTable: string | null = null) =>
      build({
        schemas: [schema('public', ofSchema)],
        relations: [table('t', [column('id', 'int4', { notNull: true })], { comment: ofTable })],
      }).diagnostics.map(({ object, message, fix }) => [object, message, fix].join(' | '))
    expect(told('@graphql({"composite": {"enabled": true}})')).toEqual([
      expect.stringMatching(/Did you mean "composites"\?/),
    ])
    expect(told('@graphql({"composites": true})')).toEqual([expect.stringMatching(/schema public.*composites/)])
    expect(told(null, on)).toEqual([expect.stringMatching(/table public\.t.*Set it in the comment of a schema/)])
  })
})

describe('composites: answers', () => {
  const service = forSuite(createTestService, {
    schemas: ['public', 'closed'],
    sql: `
        comment on schema public is '@graphql({"introspection": true, "composites": {"enabled": true}})';
        create schema closed;
        comment on schema closed is '${on}';
        create type closed.hidden as (x int);
        create type geo as (lat int, lng int);
        create type address as (street text, zip text, geo geo, hidden closed.hidden);
        create table person (id int primary key, home address, other closed.hidden);
        insert into person select
          n, row('Street ' || n, n, row(n, -n)::geo, row(n)::closed.hidden)::address, row(n)::closed.hidden from generate_series(1, 5000) n;
        create index person_zip on person (((home).zip));
        create sequence calls;
        create function find(zip text) returns address language sql volatile
          as $$ select row('S' || nextval('calls'), zip, row(1, 2), null)::address $$;
        grant select on person to anon; grant usage on sequence calls to anon;
        analyze;
      `,
  })

  it('leave out what belongs to a schema that the role may not use', async () => {
    const api = await introspect(service)
    expect(fieldsOf(api, 'person')).toEqual(['nodeId: ID!', 'id: Int!', 'home: address'])
    expect(fieldsOf(api, 'address')).toEqual(['street: String', 'zip: String', 'geo: geo'])
    expect(fieldsOf(api, 'addressFilter')).toEqual(['street: StringFilter', 'zip: StringFilter', 'geo: geoFilter'])
    expect(messagesOf(await service.graphql('{ personCollection { edges { node { home } } } }'))).toEqual([
      'Field "home" of type "address" must have a selection of subfields. Did you mean "home { ... }"?',
    ])
  })

  it('use an index on an attribute', async () => {
    const query = `query Q($zip: String) {
      personCollection(filter: { home: { zip: { eq: $zip } } }) { edges { node { home { geo { lng } } } } }
    }`
    const { personCollection } = dataOf(await service.graphql(query, { variables: { zip: '77' } }))
    expect(personCollection.edges).toEqual([{ node: { home: { geo: { lng: -77 } } } }])
    expect(await lastPlan(service)).toContain('"Index Name":"person_zip"')
  })

  it('come of one call of a function, however much is selected', async () => {
    const answer = await service.graphql('mutation { find(zip: "1") { street zip geo { lat lng } again: street } }')
    expect(dataOf(answer).find).toEqual({ street: 'S1', zip: '1', geo: { lat: 1, lng: 2 }, again: 'S1' })
    expect((await service.db.query('select last_value::int as n from calls')).rows).toEqual([{ n: 1 }])
  })
})
