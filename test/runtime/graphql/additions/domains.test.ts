import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { argument, arrayOf, column, domain, enumType, fn, schema, table } from '../../../support/catalog-literal.ts'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService, type TestService } from '../../../support/service.ts'
import { build } from '../../../compiler/model/build.ts'

const on = '@graphql({"domains": {"enabled": true}})'

describe('domains: the setting', () => {
  const positive = domain('positive', 'int4')
  const types = [positive, arrayOf(positive), domain('small', 'positive'), domain('tags', '_text'), enumType('mood', ['a'])]
  const columns = ['positive', '_positive', 'small', 'tags'].map((type, index) =>
    column(`c${index}`, type),
  )
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

  it('is told about where it is misspelt, ill-typed or in the wrong place', () => {
    const told = (ofSchema: string | null, ofTable: string | null) =>
      build({ schemas: [schema('public', ofSchema)], relations: [table('t', [column('id', 'int4', { notNull: true })], { comment: ofTable })] }).diagnostics.map(
        ({ object, message, fix }) => [object, message, fix].join(' | '),
      )
    expect(told('@graphql({"domain": {"enabled": true}})', null)).toEqual([expect.stringMatching(/Did you mean "domains"\?/)])
    expect(told('@graphql({"domains": {"enabled": 1}})', null)).toEqual([expect.stringMatching(/neither true nor false/)])
    expect(told(null, on)).toEqual([expect.stringMatching(/table public\.t.*Set it in the comment of a schema/)])
  })
})

describe('domains: answers', () => {
  let service: TestService
  beforeAll(async () => {
    service = await createTestService({
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
  })
  afterAll(() => service.close())

  it('hold the domain to its check on writes, and only there', async () => {
    const insert = 'mutation { insertIntoitemCollection(objects: [{id: 30000, size: 0}]) { affectedCount } }'
    expect(messagesOf(await service.graphql(insert))).toEqual([
      'value for domain positive violates check constraint "positive_check"',
    ])
    const asked = '{ itemCollection(filter: {size: {lte: 0}}) { edges { node { id } } } }'
    expect(dataOf(await service.graphql(asked)).itemCollection.edges).toEqual([])
  })

  it('use the index of the column', async () => {
    dataOf(await service.graphql('query Q($n: Int) { itemCollection(filter: {size: {eq: $n}}) { edges { node { id } } } }', { variables: { n: 7 } }))
    expect(await lastPlan(service)).toContain('item_size_idx')
  })
})
