import { describe, expect, it } from 'vitest'
import { argument, arrayOf, column, domain, enumType, fn, schema, table } from '../../../support/catalog-literal.ts'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'
import { build } from '../../../compiler/model/build.ts'

const on = '@graphql({"domains": {"enabled": true}})'

describe('domains: the setting', () => {
  const positive = domain('positive', 'int4')
  const types = [
    positive,
    arrayOf(positive),
    domain('small', 'positive'),
    domain('tags', '_text'),
    enumType('mood', ['a']),
  ]
  const columns = ['positive', '_positive', 'small', 'tags'].map((type, index) => column(`c${index}`, type))
  const typesOf = (comment: string | null) =>
    build({ schemas: [schema('public', comment)], relations: [table('t', columns)], types })
      .entity('t')
      .columns.map(({ type }) => (type?.kind === 'scalar' ? `${type.name}${type.list ? '[]' : ''}` : null))

  it('is off until the schema switches it on', () => {
    expect(typesOf(null)).toEqual(['Opaque', 'Opaque[]', 'Opaque'])
    expect(typesOf('@graphql({"domains": {"enabled": false}})')).toEqual(['Opaque', 'Opaque[]', 'Opaque'])
    expect(typesOf(on)).toEqual(['Int', 'Int[]', 'Int', 'String[]'])
  })

  it('serves functions that take or answer a domain over an array', () => {
    const built = (comment: string | null) =>
      build({ schemas: [schema('public', comment)], types, functions: [fn('f', [argument('t', 'tags')], 'tags')] })
    expect(built(null).functionFields).toEqual([])
    expect(built(on).functionFields).toEqual(['f'])
  })

  it('is reported where it is misspelt, ill-typed or in the wrong place', () => {
    const told = (ofSchema: string | null, ofTable: string | null) =>
      build({
        schemas: [schema('public', ofSchema)],
        relations: [table('t', [column('id', 'int4', { notNull: true })], { comment: ofTable })],
      }).diagnostics.map(({ object, message, fix }) => [object, message, fix].join(' | '))
    expect(told('@graphql({"domain": {"enabled": true}})', null)).toEqual([
      expect.stringMatching(/Did you mean "domains"\?/),
    ])
    expect(told('@graphql({"domains": {"enabled": 1}})', null)).toEqual([
      expect.stringMatching(/neither true nor false/),
    ])
    expect(told(null, on)).toEqual([expect.stringMatching(/table public\.t.*Set it in the comment of a schema/)])
  })
})

describe('domains: answers', () => {
  const service = forSuite(createTestService, {
    sql: `
        comment on schema public is '${on}';
        create domain positive as int check (value > 0);
        create table item (id positive primary key, size positive);
        create index on item (size);
        insert into item select n, n from generate_series(1, 20000) n;
        grant all on item to anon;
        analyze;
      `,
  })

  it('hold the domain to its check on writes, and only there', async () => {
    const insert = 'mutation { insertIntoitemCollection(objects: [{id: 30000, size: 0}]) { affectedCount } }'
    expect(messagesOf(await service.graphql(insert))).toEqual([
      'value for domain positive violates check constraint "positive_check"',
    ])
    const asked = '{ itemCollection(filter: {size: {lte: 0}}) { edges { node { id } } } }'
    expect(dataOf(await service.graphql(asked)).itemCollection.edges).toEqual([])
  })

  it('use the index of the column', async () => {
    dataOf(
      await service.graphql('query Q($n: Int) { itemCollection(filter: {size: {eq: $n}}) { edges { node { id } } } }', {
        variables: { n: 7 },
      }),
    )
    expect(await lastPlan(service)).toContain('item_size_idx')
  })

  it('take operands that no value of the domain could be, in arrays and in attributes, too', async () => {
    await service.db.query(`
      comment on schema public is '@graphql({"domains": {"enabled": true}, "composites": {"enabled": true}, "enumArrays": {"enabled": true}})';
      create type hue as enum ('red', 'green');
      create domain warm as hue check (value <> 'green');
      create domain sizes as positive[];
      create type part as (hue warm, sizes positive[]);
      create table box (id int primary key, sizes positive[], more sizes, hues warm[], hue warm, part part);
      insert into box values (1, '{1,2}', '{3}', '{red}', 'red', row('red', '{4}')), (2, '{}', null, '{}', null, null);
      grant all on box to anon;
    `)
    const ids = async (filter: string) => {
      const { edges } = dataOf(
        await service.graphql(`{ boxCollection(filter: {${filter}}) { edges { node { id } } } }`),
      ).boxCollection
      return (edges as { node: { id: number } }[]).map(({ node }) => node.id)
    }
    expect(await ids('sizes: {overlaps: [0, 2]}')).toEqual([1])
    expect(await ids('sizes: {contains: [0]}')).toEqual([])
    expect(await ids('sizes: {containedBy: [-1]}')).toEqual([2])
    expect(await ids('more: {eq: [-1]}')).toEqual([])
    expect(await ids('more: {containedBy: [0, 3]}')).toEqual([1])
    expect(await ids('hues: {overlaps: [green, red]}')).toEqual([1])
    expect(await ids('hue: {in: [green, red]}')).toEqual([1])
    expect(await ids('part: {hue: {eq: red}}')).toEqual([1])
    expect(await ids('part: {hue: {eq: green}}')).toEqual([])
    expect(await ids('part: {sizes: {contains: [0]}}')).toEqual([])
    expect(await ids('part: {sizes: {contains: [4]}}')).toEqual([1])
    expect(
      dataOf(await service.graphql('{ boxByPk(id: 1) { sizes more hues hue part { hue sizes } } }')).boxByPk,
    ).toEqual({
      sizes: [1, 2],
      more: [3],
      hues: ['red'],
      hue: 'red',
      part: { hue: 'red', sizes: [4] },
    })
    const write = (values: string) =>
      service.graphql(`mutation { updateboxCollection(set: {${values}}) { records { sizes more hues } } }`)
    await service.db.query('delete from box where id = 2')
    expect(dataOf(await write('sizes: [5], more: [6, null], hues: [red]')).updateboxCollection.records).toEqual([
      { sizes: [5], more: [6, null], hues: ['red'] },
    ])
    expect(messagesOf(await write('sizes: [0]'))).toEqual([
      'value for domain positive violates check constraint "positive_check"',
    ])
    expect(messagesOf(await write('more: [0]'))).toEqual([
      'value for domain positive violates check constraint "positive_check"',
    ])
    expect(messagesOf(await write('hues: [green]'))).toEqual([
      'value for domain warm violates check constraint "warm_check"',
    ])
    const added =
      'mutation { insertIntoboxCollection(objects: [{id: 3, sizes: [7], hues: [red]}, {id: 4, more: [8]}]) { records { sizes more hues } } }'
    expect(dataOf(await service.graphql(added)).insertIntoboxCollection.records).toEqual([
      { sizes: [7], more: null, hues: ['red'] },
      { sizes: null, more: [8], hues: null },
    ])
  })

  it('find arrays of a domain by an index on what lies under it', async () => {
    await service.db.query(`
      create table crate (id int primary key, sizes positive[], label text);
      create index crate_sizes on crate using gin ((sizes::int[]));
      insert into crate select n, array[n] from generate_series(1, 20000) n;
      grant all on crate to anon;
      analyze crate;
    `)
    dataOf(
      await service.graphql(
        'query Q($n: [Int!]) { crateCollection(filter: {sizes: {contains: $n}}, orderBy: [{label: AscNullsLast}]) { edges { node { id } } } }',
        { variables: { n: [7] } },
      ),
    )
    expect(await lastPlan(service)).toContain('crate_sizes')
  })
})
