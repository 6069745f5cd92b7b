import fc from 'fast-check'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { compileDocuments } from '../../../compiler/commands/compiled/compile-documents.ts'
import { createEngine } from '../../../compiler/additions/engine.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { openDatabase } from '../../../runtime/db/pool/pool.ts'
import {
  documentFile,
  type CompiledOperation,
  type DocumentFile,
  type DocumentsIndex,
} from '../../../runtime/graphql/compiled/format.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import { serviceOf } from '../../support/compiled-alone.ts'
import { forSuite } from '../../support/for-suite.ts'
import { startReaders } from '../../support/golden/reader.ts'
import { createTestService } from '../../support/service.ts'
import { sized } from '../../support/whole.ts'

/** For which variables a compiled document is answered, and what it says of the others (docs/artifacts.md). */

const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table thing (id int primary key, name text, size int, kind text);
  comment on table thing is '@graphql({"totalCount": {"enabled": true}})';
  insert into thing select n, nullif('n' || n % 5, 'n4'), nullif(n % 4, 3), 'k' from generate_series(1, 40) n;
  grant all on thing to anon;
`

let engine: Engine
const service = forSuite(createTestService, { sql })
const database = forSuite(async () => openDatabase({ url: service.db.url, schemas: ['public'], poolSize: 1 }))
beforeAll(async () => {
  engine = createEngine(await service.revision())
})

type Variables = Readonly<Record<string, unknown>>

const compiled = (texts: readonly string[], examples: readonly Variables[] = []) => {
  const { files, faults } = compileDocuments(
    engine,
    ['anon'],
    texts.map((text) => ({ source: '', text, roles: null, examples: { all: examples } })),
  )
  expect(faults).toEqual([])
  return files
}

const operationOf = (files: Readonly<Record<string, string>>, text: string): CompiledOperation => {
  const { roles } = JSON.parse(files['documents/index.json'] ?? '') as DocumentsIndex
  const file = JSON.parse(files[documentFile(roles['anon']?.[sha256Hex(text)] ?? '')] ?? '') as DocumentFile
  const [operation] = file.operations
  if (operation === undefined) throw new Error('there is an operation')
  return operation
}

function askedAlone(files: Readonly<Record<string, string>>): (text: string, variables: Variables) => Promise<string> {
  const { serve } = serviceOf(database.run, engine, files)
  return async (query, variables) => {
    const request = { query, operationName: null, variables, extensions: {}, queryOnly: false }
    return (await serve(request, { role: 'anon', claims: '{"role":"anon"}' })).body.toString()
  }
}

const cursor = (...elements: readonly unknown[]): string => Buffer.from(JSON.stringify(elements)).toString('base64')

const six = `query A($n: Int = 3, $min: Int, $skip: Boolean = false, $inc: Boolean! = true, $c: Cursor, $t: String) {
  thingCollection(first: $n, after: $c, filter: {size: {gte: $min}, name: {eq: $t}}) {
    totalCount @include(if: $inc) edges { node { id name @skip(if: $skip) } } } }`

describe('a compiled document', () => {
  it('is answered for every combination of six variables', async () => {
    const files = compiled([six])
    expect(operationOf(files, six).refuses).toEqual({
      others: { c: ['-', 'refused', 'v', 'vv', 'vvv'] },
      combined: true,
    })
    const ask = askedAlone(files)
    for (const variables of [
      { min: null, skip: true },
      { n: 0, t: '' },
      { n: null, min: 1, skip: null, inc: false, t: null },
      { n: 2, min: 1, skip: true, inc: false, c: cursor(3), t: 'n1' },
      { n: -1, min: null, c: 'x' },
      { c: cursor(1, 2), t: 'a', skip: true },
    ]) {
      const { body } = await service.serve(six, { variables })
      expect(await ask(six, variables), JSON.stringify(variables)).toBe(body)
    }
  })

  it('distinguishes null from none where fields are selected in which they differ', async () => {
    const text = `query Q($on: Boolean!, $off: Boolean = true, $min: Int) {
      thingCollection(filter: {size: {gte: $min}}) @include(if: $on) @skip(if: $off) { totalCount } }`
    const ask = askedAlone(compiled([text]))
    for (const variables of [
      { on: true, off: false, min: null },
      { on: true, off: false },
      { on: false, min: null },
    ])
      expect(await ask(text, variables)).toBe((await service.serve(text, { variables })).body)
  })

  it('is answered for each form of an example beside each form of the other variables', async () => {
    const text = `query Q($n: Int, $filter: ThingFilter) { thingCollection(first: $n, filter: $filter) { edges { node { id } } } }`
    const files = compiled([text], [{ filter: { id: { gt: 7 } } }])
    expect(operationOf(files, text).refuses).toEqual({
      others: { filter: ['-', '{id:{gt:v}}', '{}'] },
      combined: true,
    })
    const ask = askedAlone(files)
    const variables = { n: 0, filter: { id: { gt: 30 } } }
    expect(await ask(text, variables)).toBe((await service.serve(text, { variables })).body)
    expect(await ask(text, { filter: { id: { lt: 3 } } })).toContain('VARIABLES_NOT_COMPILED')
  })

  it('says so where it has too many variables for all their combinations', () => {
    const names = Array.from({ length: 9 }, (_, at) => `v${at}`)
    const text = `query Q(${names.map((name) => `$${name}: Int`).join(', ')}) {
      thingCollection(filter: {or: [${names.map((name) => `{size: {eq: $${name}}}`).join(', ')}]}) { totalCount } }`
    expect(operationOf(compiled([text]), text).refuses).toEqual({ others: {}, combined: false })
  })

  it('says nothing where it is answered for all variables', () => {
    const text = `query Q($id: Int!, $on: Boolean = true) { thingByPk(id: $id) { id name @include(if: $on) } }`
    expect(operationOf(compiled([text]), text).refuses).toBeNull()
  })
})

const seed = Number(process.env['EXACT_SEED'] ?? '3731')

describe('the law of compiled forms', () => {
  const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
    fc.oneof({ weight: 3, arbitrary: value }, fc.constantFrom(null, undefined))
  const kinds = {
    n: ['$n: Int', '$n: Int = 3'],
    min: ['$min: Int', '$min: Int = 1'],
    skip: ['$skip: Boolean = false', '$skip: Boolean! = true'],
    inc: ['$inc: Boolean!', '$inc: Boolean! = true'],
    c: ['$c: Cursor'],
    t: ['$t: String', '$t: String! = "n1"'],
    o: ['$o: Int'],
    f: ['$f: ThingFilter'],
  } as const
  const variables = fc.record({
    n: some(fc.constantFrom(0, 1, 5, -1, 100)),
    min: some(fc.integer({ min: 0, max: 3 })),
    skip: some(fc.boolean()),
    inc: fc.boolean(),
    c: some(fc.constantFrom(cursor(3), cursor(20), cursor(1, 2), cursor(null), cursor(1, 2, 3, 4), '?', '')),
    t: some(fc.constantFrom('', 'n1', 'n2')),
    o: some(fc.constantFrom(0, 2, -1)),
    f: some(
      fc.constantFrom({}, { id: { gt: 7 } }, { id: { lt: 9 } }, { size: { is: 'NULL' } }, { name: { eq: null } }),
    ),
  })
  const page = fc
    .tuple(
      fc.constantFrom('first: $n', 'last: $n', 'first: $n, offset: $o'),
      fc.constantFrom('', 'after: $c', 'before: $c'),
      fc.constantFrom('filter: {size: {gte: $min}}', 'filter: {name: {eq: $t}, size: {gte: $min}}', 'filter: $f', ''),
      fc.constantFrom('', ' @skip(if: $skip)', ' @include(if: $inc)', ' @include(if: $inc) @skip(if: $skip)'),
      fc.constantFrom('', ' @skip(if: $skip)', ' @include(if: $inc)'),
      fc.constantFrom('', 'totalCount'),
    )
    .map(
      ([size, place, filter, outer, inner, total]) =>
        `thingCollection(${[size, place, filter].filter((part) => part !== '').join(', ')})${outer} { ${total} edges { cursor${inner} node { id } } }`,
    )
  const document = fc
    .tuple(page, fc.option(page), fc.array(fc.nat(1), { minLength: 8, maxLength: 8 }))
    .map(([one, other, chosen]) => {
      const body = `one: __typename a: ${one} ${other === null ? '' : `b: ${other}`}`
      const heads = Object.entries(kinds).flatMap(([name, texts], at) =>
        new RegExp(`\\$${name}\\b`).test(body) ? [texts[(chosen[at] ?? 0) % texts.length]] : [],
      )
      return `query Q(${heads.join(', ')}) { ${body} }`
    })

  it(`variables are answered as by the general server unless the document says that it refuses them (seed ${seed})`, async () => {
    const drawn = fc.sample(fc.tuple(document, fc.array(variables, { minLength: 12, maxLength: 12 })), {
      seed,
      numRuns: sized(25, 6),
    })
    const examples = [{ f: { id: { gt: 1 } }, inc: true }]
    const seen = { answered: 0, refused: 0 }
    const readers = startReaders()
    onTestFinished(() => readers?.stop())
    for (const [text, all] of drawn) {
      const files = compiled([text], text.includes('$f') ? examples : [])
      const operation = operationOf(files, text)
      const ask = askedAlone(files)
      const reader = readers?.open(files, service.db.url)
      try {
        for (const one of all) {
          const given = Object.fromEntries(
            Object.entries(one).filter(([name, value]) => value !== undefined && text.includes(`$${name}:`)),
          )
          const question = `${text} ${JSON.stringify(given)}`
          const answer = await ask(text, given)
          const { body } = await service.serve(text, { variables: given })
          const isRefused = answer.includes('"VARIABLES_NOT_COMPILED"')
          if (operation.refuses?.combined !== false) {
            const says = Object.entries(operation.refuses?.others ?? {}).some(
              ([name, forms]) => !forms.includes(formIn(name, given[name])),
            )
            // Both refuse a value that does not fit its type.
            if (!body.includes('BAD_VARIABLES')) expect(isRefused, question).toBe(says)
          }
          if (!isRefused) expect(answer, question).toBe(body)
          seen[isRefused ? 'refused' : 'answered'] += 1
          const read = await reader?.ask({ text, role: 'anon', variables: given, claims: {}, name: '', extensions: {} })
          if (read !== undefined && 'body' in read && !body.includes('Failed to decode'))
            expect(read.body, question).toBe(body)
        }
      } finally {
        reader?.close()
      }
    }
    expect(Math.min(seen.answered, seen.refused)).toBeGreaterThan(5)
  }, 300_000)

  /** As docs/artifacts.md says it, for the two variables of this law that have other forms. */
  function formIn(name: string, value: unknown): string {
    if (value === undefined || value === null) return '-'
    if (name === 'c') return cursorForm(String(value))
    return `{${Object.entries(value as Record<string, Record<string, unknown>>)
      .map(([field, operators]) => {
        const inner = Object.entries(operators).map(
          ([operator, given]) => `${operator}:${given === null ? 'n' : given === 'NULL' ? '"null"' : 'v'}`,
        )
        return `${field}:{${inner.join(',')}}`
      })
      .join(',')}}`
  }
  function cursorForm(token: string): string {
    try {
      const elements = JSON.parse(Buffer.from(token, 'base64').toString()) as readonly unknown[]
      return elements.map((element) => (element === null ? 'n' : 'v')).join('')
    } catch {
      return 'refused'
    }
  }
})
