import { describe, expect, it, onTestFinished } from 'vitest'
import { column, schema, table } from '../../../support/catalog-literal.ts'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'
import { build } from '../../../compiler/model/build.ts'

describe('enumArrays: the setting', () => {
  const on = '@graphql({"enumArrays": {"enabled": true}})'
  const off = '@graphql({"enumArrays": {"enabled": false}})'
  const built = (ofSchema: string | null, ofTable: string | null) =>
    build({
      schemas: [schema('public', ofSchema)],
      relations: [table('shirt', [column('id', 'int4', { notNull: true })], { comment: ofTable })],
    })

  it('is off until a comment switches it on; the table goes before its schema', () => {
    const enabled = (...comments: Parameters<typeof built>) => built(...comments).entity('shirt').enumArrays
    expect(enabled(null, null)).toBeUndefined()
    expect(enabled(null, on)).toBe(true)
    expect(enabled(on, null)).toBe(true)
    expect(enabled(on, off)).toBeUndefined()
    expect(enabled(off, on)).toBe(true)
  })

  it('is reported where it is misspelt or ill-typed', () => {
    const told = (comment: string) => built(null, comment).diagnostics.map(({ message, fix }) => `${message} ${fix}`)
    expect(told('@graphql({"enumArray": {"enabled": true}})')).toEqual([
      expect.stringMatching(/"enumArray".*Did you mean "enumArrays"\?/),
    ])
    expect(told('@graphql({"enumArrays": true})')).toEqual([expect.stringMatching(/"enumArrays".*true is no object/)])
  })
})

const sql = (setting: string) => `
  comment on schema public is '@graphql({"introspection": true${setting}})';
  create type color as enum ('red', 'blue');
  create type color_list as enum ('a');
  create type secret as enum ('x', 'y');
  create table shirt (id int primary key, colors color[] not null, hidden secret[], other color_list[]);
  create index on shirt using gin (colors);
  insert into shirt select n, case when n % 500 = 0 then '{red}' else '{blue}' end::color[] from generate_series(1, 20000) n;
  revoke usage on type secret from public;
  grant select on shirt to anon;
  analyze;
`

describe('enumArrays: answers', () => {
  const service = forSuite(createTestService, { sql: sql(', "enumArrays": {"enabled": true}') })

  it('has one more filter type for each enum that the role may use, and none where it is off', async () => {
    const shown = await introspect(service)
    expect(namesOf(shown, 'colorListFilter')).toEqual(['containedBy', 'contains', 'eq', 'is', 'overlaps'])
    expect(namesOf(shown, 'shirtFilter')).toEqual(['id', 'colors', 'other', 'nodeId', 'and', 'or', 'not'])
    expect(shown.getType('secretListFilter')).toBeUndefined()
    const off = await createTestService({ sql: sql('') })
    onTestFinished(() => off.close())
    const plain = await introspect(off)
    expect(Object.keys(plain.getTypeMap()).filter((name) => /(color|color_list)ListFilter/.test(name))).toEqual([])
    expect(namesOf(plain, 'shirtFilter')).not.toContain('colors')
  })

  it('takes names of values, not labels in quotes', async () => {
    const [message] = messagesOf(
      await service.graphql('{ shirtCollection(filter: {colors: {contains: ["red"]}}) { edges { cursor } } }'),
    )
    expect(message).toBe('Enum "color" cannot represent non-enum value: "red". Did you mean the enum value "red"?')
  })

  it('is answered by an index on the array', async () => {
    const query =
      'query Q($c: [color!]) { found: shirtCollection(filter: {colors: {contains: $c}}) { edges { node { id } } } }'
    const { found } = dataOf(await service.graphql(query, { variables: { c: ['red'] } }))
    expect(found.edges).toHaveLength(30)
    const settings = ['enable_seqscan = off', 'enable_indexscan = off']
    expect(await lastPlan(service, { settings })).toContain('shirt_colors_idx')
  })
})

describe('enumArrays: names of types', () => {
  it('leave an enum without a type whose list filter another type is called', async () => {
    const service = await createTestService({
      sql: `
        comment on schema public is '@graphql({"introspection": true, "enumArrays": {"enabled": true}})';
        create type mood as enum ('ok');
        create type kind as enum ('ok');
        create table "moodListFilter" (id int primary key, moods mood[], kinds kind[]);
        grant select on "moodListFilter" to anon;
      `,
    })
    onTestFinished(() => service.close())
    const shown = await introspect(service)
    expect(namesOf(shown, 'moodListFilterFilter')).toEqual(['id', 'kinds', 'nodeId', 'and', 'or', 'not'])
    expect(shown.getType('mood')).toBeUndefined()
  })
})
