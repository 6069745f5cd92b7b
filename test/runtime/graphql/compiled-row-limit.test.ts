import fc from 'fast-check'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { compileDocuments } from '../../../compiler/commands/compiled/compile-documents.ts'
import { createEngine } from '../../../compiler/additions/engine.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { openDatabase } from '../../../runtime/db/pool/pool.ts'
import { documentFile, type DocumentFile, type DocumentsIndex } from '../../../runtime/graphql/compiled/format.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import { serviceOf } from '../../support/compiled-alone.ts'
import { forSuite } from '../../support/for-suite.ts'
import { startReaders } from '../../support/golden/reader.ts'
import { createTestService } from '../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"limits": {"rows": 60}, "groups": {"enabled": true}, "nestedWrites": {"enabled": true}})';
  create table person (id int primary key, boss int references person, name text);
  create table note (id int primary key, person int references person, body text);
  comment on table note is '@graphql({"max_rows": 5})';
  insert into person select n, nullif((n + 1) / 3, 0), 'person ' || n from generate_series(1, 40) n;
  insert into note select n, n % 7 + 1, 'note ' || n from generate_series(1, 50) n;
  grant all on person, note to anon;
`

let engine: Engine
const service = forSuite(createTestService, { sql })
const database = forSuite(async () => openDatabase({ url: service.db.url, schemas: ['public'], poolSize: 1 }))
beforeAll(async () => {
  engine = createEngine(await service.revision())
})

type Variables = Readonly<Record<string, unknown>>

const compiled = (texts: readonly string[], examples: readonly Variables[] = []) =>
  compileDocuments(
    engine,
    ['anon'],
    texts.map((text) => ({ source: '', text, roles: null, examples: { all: examples } })),
  )

/** A service of these files alone. */
function askedAlone(files: Readonly<Record<string, string>>): (text: string, variables: Variables) => Promise<string> {
  const { serve } = serviceOf(database.run, engine, files)
  return async (query, variables) => {
    const request = { query, operationName: null, variables, extensions: {}, queryOnly: false }
    return (await serve(request, { role: 'anon', claims: '{"role":"anon"}' })).body.toString()
  }
}

function alone(text: string, examples: readonly Variables[] = []): (variables: Variables) => Promise<string> {
  const { files, faults } = compiled([text], examples)
  expect(faults).toEqual([])
  const ask = askedAlone(files)
  return (variables) => ask(text, variables)
}

function operationOf(text: string, examples: readonly Variables[] = []) {
  const { files } = compiled([text], examples)
  const { roles } = JSON.parse(files['documents/index.json'] ?? '') as DocumentsIndex
  const file = JSON.parse(files[documentFile(roles['anon']?.[sha256Hex(text)] ?? '')] ?? '') as DocumentFile
  const [operation] = file.operations
  if (operation === undefined) throw new Error('there is an operation')
  return operation
}

const codeIn = (body: string): string => /"code":"(\w+)"/.exec(body)?.[1] ?? 'answered'

const nested =
  'query Q($n: Int, $m: Int) { personCollection(first: $n) { edges { node { id noteCollection(last: $m) { edges { node { id } } } } } } }'

describe('compiled documents under limits.rows', () => {
  it('have one shape for all page sizes, and the sum that these come to', () => {
    const { planned, shapes, rows } = operationOf(nested)
    expect(planned).toEqual({ n: 'size', m: 'size' })
    expect(Object.keys(shapes)).toContain('v;v;')
    const [n, m] = [
      { asked: ['n'], most: 30 },
      { asked: ['m'], most: 5 },
    ]
    expect(rows).toEqual({
      limit: 60,
      terms: [
        { times: 1, pages: [n] },
        { times: 1, pages: [m, n] },
      ],
    })
  })

  it('are answered with every page size without an example, and refused beyond the limit', async () => {
    const ask = alone(nested)
    const refused = (count: number) =>
      `{"data":null,"errors":[{"message":"The document may select ${count} rows; at most 60 are allowed.","extensions":{"code":"ROW_LIMIT_EXCEEDED"}}]}`
    expect(codeIn(await ask({ n: 10, m: 5 }))).toBe('answered')
    expect(codeIn(await ask({ n: 15, m: 3 }))).toBe('answered')
    expect(await ask({ n: 16, m: 3 })).toBe(refused(64))
    expect(await ask({ n: 11 })).toBe(refused(66))
    expect(await ask({ n: 500, m: 1 })).toBe((await service.serve(nested, { variables: { n: 500, m: 1 } })).body)
    expect(await ask({ n: null, m: 2 })).toBe(refused(90))
    // Rows are counted before a size that is none is refused.
    expect(await ask({ n: -1, m: 2 })).toBe(refused(90))
    expect(codeIn(await ask({ n: -1, m: 1 }))).toBe('BAD_ARGUMENT')
  })

  it('count the values of groups and the records of mutations by what variables say', async () => {
    const values =
      'query Q($n: Int!) { personCollection(first: 0) { groups(by: [{boss: VALUE}], first: 5) { values(atMost: $n) { id name } } } }'
    const removed =
      'mutation Q($n: Int!) { deleteFromnoteCollection(filter: {id: {lt: 0}}, atMost: $n) { records { id } } }'
    for (const [text, most] of [
      [values, 5],
      [removed, 60],
    ] as const) {
      const ask = alone(text)
      expect(codeIn(await ask({ n: most })), text).toBe('answered')
      const refused = await ask({ n: most + 1 })
      expect(codeIn(refused), text).toBe('ROW_LIMIT_EXCEEDED')
      expect(refused).toBe((await service.serve(text, { variables: { n: most + 1 } })).body)
    }
  })

  it('have no sum where no page sizes come to more', () => {
    const few = operationOf('query Q($n: Int) { noteCollection(first: $n) { edges { node { id } } } }')
    expect([few.rows, few.planned]).toEqual([undefined, { n: 'size' }])
    const none = operationOf('query Q($id: Int!) { personByPk(id: $id) { id } }')
    expect(none.rows).toBeUndefined()
  })

  it('adds equal products up, in whatever order their pages stand', () => {
    const { rows } = operationOf(`query Q($n: Int, $m: Int) {
      a: personCollection(first: $n) { edges { node { ...below } } }
      b: personCollection(first: $m) { edges { node { personCollection(first: $n) { edges { node { id } } } } } }
    } fragment below on person { personCollection(first: $m) { edges { node { id noteCollection(first: 2) { edges { cursor } } } } } }`)
    const [n, m] = [
      { asked: ['n'], most: 30 },
      { asked: ['m'], most: 30 },
    ]
    expect(rows?.terms.toSorted((a, b) => a.times - b.times || a.pages.length - b.pages.length)).toEqual([
      { times: 1, pages: [n] },
      { times: 1, pages: [m] },
      { times: 4, pages: [m, n] },
    ])
  })

  it('are compiled for the sizes of examples where more decides than sizes, or the sum is long', async () => {
    const levels = [0, 1, 2, 3, 4, 5]
    const long = `query Q(${levels.map((at) => `$a${at}: Int, $b${at}: Int`).join(', ')}) { personByPk(id: 1) { ...F0 } }
      ${levels.map((at) => `fragment F${at} on person { a: personCollection(first: $a${at}) { edges { node { ...F${at + 1} } } } b: personCollection(first: $b${at}) { edges { node { ...F${at + 1} } } } }`).join('\n')}
      fragment F6 on person { id }`
    const [one, other] = [1, 2].map((size) => ({ a0: size, b0: 0, ...ofLower(levels) }))
    expect(operationOf(long, [one ?? {}]).rows).toBeUndefined()
    const ask = alone(long, [one ?? {}])
    expect(codeIn(await ask(one ?? {}))).toBe('answered')
    expect(codeIn(await ask(other ?? {}))).toBe('VARIABLES_NOT_COMPILED')
    const written =
      'mutation Q($rows: [personInsertInput!]!, $n: Int) { insertIntopersonCollection(objects: $rows) { records { noteCollection(first: $n) { edges { node { id } } } } } }'
    const example = { rows: [{ id: 100 }], n: 2 }
    expect(operationOf(written, [example]).planned).toEqual({ rows: 'count', n: 'value' })
    expect(operationOf(written, [example]).rows).toBeUndefined()
  })

  it('take no example that is beyond the limit', () => {
    expect(compiled([nested], [{ n: 16, m: 3 }]).faults).toMatchObject([
      { message: 'The document may select 64 rows; at most 60 are allowed.' },
    ])
  })
})

const ofLower = (levels: readonly number[]): Variables =>
  Object.fromEntries(levels.slice(1).flatMap((at) => [`a${at}`, `b${at}`].map((name) => [name, 0])))

const seed = Number(process.env['EXACT_SEED'] ?? '71')

describe('the law of both ways', () => {
  const size = fc.constantFrom(
    ...['', '(first: $a)', '(first: $a)', '(last: $b)', '(last: $b)', '(first: $a, last: $b)', '(first: $b)'],
    ...['(first: 3)', '(first: $a, last: 2)', '(first: 2, last: $b)', '(first: -1, last: $a)', '(last: 0)'],
  )
  const skipped = fc.constantFrom('', '', ' @skip(if: $s)', ' @include(if: $s)')
  const notes = fc
    .tuple(size, skipped)
    .map(([page, directive]) => `noteCollection${page}${directive} { edges { node { id } } }`)
  const people = fc.tuple(size, skipped, notes, fc.option(notes)).map(([page, directive, one, other]) => {
    return `personCollection${page}${directive} { edges { node { id ${one} ${other === null ? '' : `o: ${other}`} } } }`
  })
  const grouped = fc.tuple(size, size, notes).map(([page, groups, inner]) => {
    const first = groups.includes('last') ? '' : groups.replace('(', ', ').replace(')', '')
    return `personCollection${page} { groups(by: [{ boss: VALUE }]${first}) { count values(atMost: ${groups.length}) { name boss } } edges { node { id ${inner} } } }`
  })
  const root = fc.oneof(people, notes, grouped, fc.constant('...Both'))
  const document = fc
    .tuple(root, fc.option(root), fc.constantFrom('$b: Int', '$b: Int = 2'), people)
    .map(([one, other, declared, inner]) => {
      const spread = `${one}${other ?? ''}`.includes('...Both')
      const uses = (name: string) => `${one} ${other ?? ''} ${spread ? inner : ''}`.includes(`$${name}`)
      const variables = [uses('a') ? '$a: Int' : '', uses('b') ? declared : '', uses('s') ? '$s: Boolean!' : '']
      const head = variables.filter((text) => text !== '').join(', ')
      return `query Q${head === '' ? '' : `(${head})`} { one: __typename ${one} ${other === null ? '' : other.replace(/^\w+/, (name) => `o: ${name}`)} }${spread ? ` fragment Both on Query { f: ${inner} }` : ''}`
    })
  const sizes = fc.oneof(
    fc.integer({ min: 0, max: 12 }),
    fc.constantFrom(undefined, null, -1, 29, 30, 31, 2_147_483_647),
  )
  const variables = fc.record({ a: sizes, b: sizes, s: fc.boolean() })

  it(`a compiled document answers and refuses by the same bytes, and so does the reader (seed ${seed})`, async () => {
    const drawn = fc.sample(fc.tuple(document, fc.array(variables, { minLength: 6, maxLength: 6 })), {
      seed,
      numRuns: 40,
    })
    const documents = [...new Set(drawn.map(([text]) => text))]
    const { files, faults } = compiled(documents)
    expect(faults).toEqual([])
    const ask = askedAlone(files)
    const readers = startReaders()
    onTestFinished(() => readers?.stop())
    const reader = readers?.open(files, service.db.url)
    const seen = new Map<string, number>()
    try {
      for (const [text, all] of drawn)
        for (const one of all) {
          const given = Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined))
          const question = `${text} ${JSON.stringify(given)}`
          const { body } = await service.serve(text, { variables: given })
          expect(await ask(text, given), question).toBe(body)
          const read = await reader?.ask({ text, role: 'anon', variables: given, claims: {}, name: '', extensions: {} })
          if (read !== undefined) expect(read, question).toEqual({ body })
          seen.set(codeIn(body), (seen.get(codeIn(body)) ?? 0) + 1)
        }
    } finally {
      reader?.close()
    }
    for (const code of ['answered', 'ROW_LIMIT_EXCEEDED', 'BAD_ARGUMENT'])
      expect(seen.get(code), JSON.stringify([...seen])).toBeGreaterThan(20)
  })
})
