import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table person (id int primary key, name text, boss_id int references person);
  insert into person values (1, 'root', 1), (2, 'x', 1);
  grant usage on schema public to anon;
  grant all on person to anon;
`

const ask = async (query: string, variables: Record<string, unknown> = {}) =>
  dataOf(await service.graphql(query, { variables }))
const codeOf = async (query: string, variables: Record<string, unknown> = {}) => {
  const answer = await service.graphql(query, { variables })
  messagesOf(answer)
  return answer.errors?.[0]?.extensions.code
}
const refused = async (query: string, variables: Record<string, unknown> = {}) =>
  messagesOf(await service.graphql(query, { variables }))
const times = (count: number, make: (index: number) => string, joint = ' '): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(joint)

/** `{ personByPk { boss { boss { ... id } } } }` with this many levels of selections. */
const levels = (count: number): string =>
  `{ personByPk(id: 1) ${times(count - 2, () => '{ boss')} { id } ${'}'.repeat(count - 1)}`

const service = forSuite(createTestService, { sql })

describe('0.10 depth', () => {
  it('allows 32 levels and refuses 33', async () => {
    expect(await ask(levels(2))).toEqual({ personByPk: { id: 1 } })
    expect(JSON.stringify(await ask(levels(32)))).toContain('"id":1')
    expect(await refused(levels(33))).toEqual([
      'The selections are nested 33 levels deep; at most 32 levels are allowed.',
    ])
    expect(await codeOf(levels(33))).toBe('DOCUMENT_TOO_DEEP')
  })
  it('counts through named and inline fragments, which are not levels themselves', async () => {
    const through = (count: number): string =>
      `{ personByPk(id: 1) { ...F0 } } ${times(count, (index) => `fragment F${index} on Person { ... { boss { ...F${index + 1} } } }`)} fragment F${count} on Person { ... on Person { ... { id } } }`
    expect(JSON.stringify(await ask(through(30)))).toContain('"id":1')
    expect(await refused(through(31))).toEqual([
      'The selections are nested 33 levels deep; at most 32 levels are allowed.',
    ])
  })
  it('counts what directives would skip', async () => {
    expect(await codeOf(levels(33).replace('{ boss', '{ id boss @skip(if: true)'))).toBe('DOCUMENT_TOO_DEEP')
  })
  it('looks at the operation that runs', async () => {
    const document = `query Deep ${levels(33)} query Flat { __typename }`
    expect(dataOf(await service.graphql(document, { operationName: 'Flat' }))).toEqual({ __typename: 'Query' })
    expect(messagesOf(await service.graphql(document, { operationName: 'Deep' }))).toHaveLength(1)
  })
})

describe('0.10 cycles and expansion', () => {
  it('refuses fragments that contain themselves, directly and around corners', async () => {
    expect(await refused('{ personByPk(id: 1) { ...A } } fragment A on Person { boss { ...A } }')).toContain(
      'Cannot spread fragment "A" within itself.',
    )
    const ring = times(50, (index) => `fragment F${index} on Person { boss { ...F${(index + 1) % 50} } }`)
    expect((await refused(`{ personByPk(id: 1) { ...F0 } } ${ring}`))[0]).toMatch(
      /^Cannot spread fragment "F0" within itself via "F1", "F2", /,
    )
  })
  /** Every level doubles what the level below selects. */
  const bomb = (doublings: number): string =>
    `{ personByPk(id: 1) { ...F0 } } ${times(doublings, (index) => `fragment F${index} on Person { a: boss { ...F${index + 1} } b: boss { ...F${index + 1} } }`)} fragment F${doublings} on Person { id }`

  it('refuses what expands beyond a million selections, however short it is', async () => {
    expect(await refused(bomb(19))).toEqual([
      'The document selects more than 1000000 fields after its fragments are expanded.',
    ])
    expect(await codeOf(bomb(30))).toBe('DOCUMENT_TOO_LARGE')
  })
  it('refuses a bomb of a thousand levels without expanding it', async () => {
    expect(['DOCUMENT_TOO_DEEP', 'DOCUMENT_TOO_LARGE']).toContain(await codeOf(bomb(1_000)))
  })
  it('refuses a bomb of spreads on one level', async () => {
    const flat = `{ ...F0 } ${times(40, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`)} fragment F40 on Query { __typename }`
    expect(await codeOf(flat)).toBe('DOCUMENT_TOO_LARGE')
  })
  it('answers what merges to little', async () => {
    const merged = `{ personByPk(id: 1) { ${times(50, () => '...F')} } } fragment F on Person { ${times(50, () => 'id boss { id }')} }`
    expect(await ask(merged)).toEqual({ personByPk: { id: 1, boss: { id: 1 } } })
  })
  it('refuses a document of more sub-selects than Postgres should be asked to plan', async () => {
    expect(await refused(bomb(17))).toEqual(['The document selects more than 30000 objects.'])
    expect(JSON.stringify(await ask(bomb(6))).match(/"id":1/g)).toHaveLength(64)
  })
})

describe('documents of any size', () => {
  it('answers 10,000 aliases of a field', async () => {
    const data = await ask(`{ personByPk(id: 1) { ${times(10_000, (index) => `a${index}: id`)} } }`)
    expect(Object.keys(data.personByPk)).toHaveLength(10_000)
    expect(data.personByPk.a9999).toBe(1)
  })
  it('answers 10,000 aliases of __typename at the root, and some hundred of rows', async () => {
    expect(Object.keys(await ask(`{ ${times(10_000, (index) => `a${index}: __typename`)} }`))).toHaveLength(10_000)
    const data = await ask(`{ ${times(300, (index) => `a${index}: personByPk(id: ${1 + (index % 2)}) { id name }`)} }`)
    expect(data.a299).toEqual({ id: 2, name: 'x' })
  })
  it('refuses or merges a response name that is selected ten thousand times', async () => {
    expect(await codeOf(`{ personByPk(id: 1) { ${times(10_000, () => 'id')} } }`)).toBe('DOCUMENT_TOO_REPETITIVE')
    expect(await codeOf(`{ personByPk(id: 1) { ${times(5_000, () => 'boss { id }')} } }`)).toBe(
      'DOCUMENT_TOO_REPETITIVE',
    )
    expect(await codeOf(`{ ${times(10_000, () => '... { __typename }')} }`)).toBe('DOCUMENT_TOO_REPETITIVE')
    expect(await ask(`{ ${times(10_000, () => '...F')} } fragment F on Query { __typename }`)).toEqual({
      __typename: 'Query',
    })
    expect(await ask(`{ personByPk(id: 1) { ${times(500, () => 'id')} } }`)).toEqual({ personByPk: { id: 1 } })
  })
  it('refuses repetition that is spread over fragments and levels', async () => {
    const chained = `{ personByPk(id: 1) { ${times(1_200, (index) => `...F${index}`)} } } ${times(1_200, (index) => `fragment F${index} on Person { boss { id } }`)}`
    expect(await codeOf(chained)).toBe('DOCUMENT_TOO_REPETITIVE')
    expect(
      await ask(
        chained
          .replaceAll(/\.\.\.F\d{3,} /g, '')
          .replaceAll(/fragment F\d{3,} on Person \{ boss \{ id \} \}/g, '')
          .replace('...F1199', ''),
      ),
    ).toEqual({
      personByPk: { boss: { id: 1 } },
    })
  })
  it('answers a document of a megabyte', async () => {
    const padding = `# ${'x'.repeat(1_048_576)}\n`
    expect(await ask(`${padding}{ __typename }`)).toEqual({ __typename: 'Query' })
    const long = 'y'.repeat(1_048_576)
    expect(await ask(`{ personCollection(filter: {name: {eq: "${long}"}}) { edges { node { id } } } }`)).toEqual({
      personCollection: { edges: [] },
    })
    const list = times(150_000, (index) => String(index), ',')
    expect(await ask(`{ personCollection(filter: {id: {in: [${list}]}}) { edges { node { id } } } }`)).toEqual({
      personCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] },
    })
  })
  it('answers an alias of any length', async () => {
    const alias = 'a'.repeat(100_000)
    expect(await ask(`{ ${alias}: personByPk(id: 1) { ${alias}: id } }`)).toEqual({ [alias]: { [alias]: 1 } })
  })
  it('answers a hundred of many problems, and says that there are more', async () => {
    const messages = await refused(`{ ${times(10_000, (index) => `personCollectio${index}`)} }`)
    expect(messages).toHaveLength(101)
    expect(messages[100]).toBe('Too many validation errors, error limit reached. Validation aborted.')
  })
  it('suggests names for slips of the pen, not for wrong names by the dozen', async () => {
    const slips = (count: number): string => `{ ${times(count, (index) => `a${index}: personCollectio`)} }`
    expect(await refused(slips(20))).toEqual(
      Array.from(
        { length: 20 },
        () => 'Cannot query field "personCollectio" on type "Query". Did you mean "personCollection"?',
      ),
    )
    expect(await refused(slips(21))).toEqual(
      Array.from({ length: 21 }, () => 'Cannot query field "personCollectio" on type "Query".'),
    )
  })
  it('refuses more values than one statement can be given', { timeout: 120_000 }, async () => {
    const many = (count: number) =>
      `{ personCollection(filter: {or: [${times(count, (index) => `{id: {eq: ${index}}}`, ',')}]}) { edges { node { id } } } }`
    expect((await ask(many(500))).personCollection.edges).toHaveLength(2)
    expect(await codeOf(many(70_000))).toBe('DOCUMENT_TOO_LARGE')
    const query = 'query($f: PersonFilter) { personCollection(filter: $f) { edges { node { id } } } }'
    const filter = { or: Array.from({ length: 70_000 }, (_, id) => ({ id: { eq: id } })) }
    expect(await codeOf(query, { f: filter })).toBe('DOCUMENT_TOO_LARGE')
    expect(await ask('{ __typename }')).toEqual({ __typename: 'Query' })
  })
  it.each([100, 1_000, 3_000, 10_000, 100_000])('answers or refuses inputs nested %i deep', async (depth) => {
    const filters = [
      `${'{not: '.repeat(depth)}{id: {eq: 1}}${'}'.repeat(depth)}`,
      `${'{and: ['.repeat(depth)}{id: {eq: 1}}${']}'.repeat(depth)}`,
      `{id: {in: ${'['.repeat(depth)}1${']'.repeat(depth)}}}`,
    ]
    for (const filter of filters) {
      const answer = await service.graphql(`{ personCollection(filter: ${filter}) { edges { node { id } } } }`)
      if (answer.data === null)
        expect(answer.errors?.[0]?.message).toMatch(
          /nested too deeply|stack depth limit exceeded|^Int cannot represent/,
        )
    }
  })
  it.each([100, 500, 2_000])('answers or refuses variables nested %i deep', async (depth) => {
    let filter: unknown = { id: { eq: 1 } }
    for (let level = 0; level < depth; level += 1) filter = { not: filter }
    const query = 'query($f: PersonFilter) { personCollection(filter: $f) { edges { node { id } } } }'
    const answer = await service.graphql(query, { variables: { f: filter } })
    if (answer.data === null)
      expect(answer.errors?.[0]?.message).toMatch(/nested too deeply|stack depth limit exceeded/)
    else expect(answer.data.personCollection.edges).toEqual([{ node: { id: 1 } }])
  })
  it('answers or refuses chains of ten thousand fragments', async () => {
    const chain = `{ ...F0 } ${times(10_000, (index) => `fragment F${index} on Query { ...F${index + 1} }`)} fragment F10000 on Query { __typename }`
    const answer = await service.graphql(chain)
    if (answer.data === null) expect(answer.errors?.[0]?.extensions.code).toBe('DOCUMENT_TOO_DEEP')
    const inline = `{ ${'... { '.repeat(10_000)} __typename ${'}'.repeat(10_000)} }`
    const other = await service.graphql(inline)
    if (other.data === null) expect(other.errors?.[0]?.extensions.code).toBe('DOCUMENT_TOO_DEEP')
  })
})
