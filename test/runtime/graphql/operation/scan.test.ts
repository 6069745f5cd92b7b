import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createEngine } from '../../../../compiler/additions/engine.ts'
import type { Engine } from '../../../../runtime/engine/engine.ts'
import { untrustedCacheLimits, createDocuments } from '../../../../runtime/graphql/prepared/documents.ts'
import { Refusal } from '../../../../runtime/graphql/protocol/failures.ts'
import { isHeavy, scan } from '../../../../runtime/graphql/operation/scan.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { hostileSql } from '../../../support/hostile-documents.ts'
import { createTestService } from '../../../support/service.ts'

let engine: Engine
const service = forSuite(createTestService, { sql: hostileSql })
beforeAll(async () => {
  engine = createEngine(await service.revision())
})

/** The result of parsing and all rules for a document: the code of its refusal, or that it is valid. */
const judged = (text: string): string => {
  try {
    createDocuments(engine, untrustedCacheLimits).find({ role: 'anon', text, operationName: null })
    return 'valid'
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

const inNode = (fields: string): string => `{notesCollection{edges{node{${fields}}}}}`
const repeated = 'DOCUMENT_TOO_REPETITIVE'

describe('the repetition of a text', () => {
  it('is what the reference implementation gives up at', () => {
    for (const [count, verdict] of [
      [707, 'valid'],
      [708, repeated],
    ] as const) {
      const text = inNode('id '.repeat(count))
      expect([scan(text).repetitive, judged(text)]).toEqual([verdict === repeated, verdict])
    }
  })
  it('counts inline fragments with the selection that they stand in, and aliases as what they are called', () => {
    for (const part of ['...{id}', '... on notes{id}', '...@include(if:true){id}', 'id:body', 'id:id@skip(if:false)']) {
      const text = inNode(`${part} `.repeat(708))
      expect([scan(text).repetitive, judged(text)], part).toEqual([true, repeated])
    }
  })
  it('adds up over a whole document', () => {
    const text = `{${Array.from({ length: 6 }, (_, index) => `a${index}:notesCollection{edges{node{${'id '.repeat(300)}}}}`).join(' ')}}`
    expect([scan(text).repetitive, judged(text)]).toEqual([true, repeated])
  })
  it('counts nothing in arguments, texts, comments and other definitions, and no names of fragments, types and directives', () => {
    const count = 1_000
    const many = (part: string): string => `${part} `.repeat(count)
    const texts = [
      `{notesCollection(filter:{or:[${many('{id:{eq:1}}')}]}){edges{cursor}}}`,
      inNode(`id #${many('id')}\n`),
      `{notesCollection(filter:{body:{eq:"""${many('{id}')}\\"""{"""}}){edges{cursor}}}`,
      `{notesCollection(filter:{body:{eq:"${many('{id \\"')}"}}){edges{cursor}}}`,
      `type T{${many('id:Int')}}`,
      `{notesCollection{...F}} fragment F on notesConnection{__typename ${many('...F')}}`,
      `{__typename ${many('@skip(if:false)')}}`,
      `query(${Array.from({ length: count }, (_, index) => `$v${index}:[Int!]=[1]`).join()}){__typename}`,
    ]
    expect(texts.filter((text) => scan(text).repetitive)).toEqual([])
  })
  it('is never claimed of a document that is answered, and always of fields that are only repeated', () => {
    const field = fc.tuple(fc.constantFrom('id', 'body', 'x:id', 'id:body', '__typename'), fc.nat(520))
    const noise = fc.constantFrom('', '#}{\n', ' , ', '\ufeff', '# "\r', '#"""\n')
    const wrapped = fc.constantFrom('', '... ', '... on notes ', '...@skip(if:false)')
    const set = fc.array(fc.tuple(field, noise, wrapped), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(set, (parts) => {
        const fields = parts.map(([[name, count], space, wrap]) => {
          const some = `${space}${`${name} `.repeat(count + 1)}`
          return wrap === '' ? some : `${wrap}{${some}}`
        })
        const text = inNode(fields.join(' '))
        const verdict = judged(text)
        if (scan(text).repetitive) expect(verdict).not.toBe('valid')
        // Where no two fields of one name differ, there is nothing else to be said.
        if (!text.includes('id:body') || !/\bid /.test(text)) expect(verdict === repeated).toBe(scan(text).repetitive)
      }),
      { numRuns: 60 },
    )
  })
})

describe('the nesting of a text', () => {
  it('is too much only where the parser gives up', () => {
    const deep: readonly ((count: number) => string)[] = [
      (count) => `${'{a'.repeat(count)}${'}'.repeat(count)}`,
      (count) => `{a(a:${'['.repeat(count)}${']'.repeat(count)})}`,
      (count) => `query($a:${'['.repeat(count)}Int${']'.repeat(count)}){a}`,
    ]
    for (const make of deep) {
      expect(scan(make(3_000)).deep).toBe(false)
      expect([scan(make(20_000)).deep, judged(make(20_000))]).toEqual([true, 'DOCUMENT_TOO_DEEP'])
    }
  })
})

describe('a heavy text', () => {
  it('is not a document that a client would write', () => {
    const client = `query Q($id:Int){${Array.from({ length: 30 }, (_, index) => `a${index}:notesCollection(first:10,filter:{id:{eq:$id}}){edges{node{...F}}}`).join(' ')}} fragment F on notes{id body tags}`
    expect(isHeavy(scan(client))).toBe(false)
  })
  it('is one of many tokens, characters, comments, or comparisons', () => {
    const texts = [
      inNode(Array.from({ length: 500 }, (_, index) => `a${index}:id`).join(' ')),
      `{__typename}${' '.repeat(500_000)}`,
      `{__typename}${'#\n'.repeat(20_000)}`,
      inNode('id '.repeat(300)),
    ]
    expect(texts.map((text) => isHeavy(scan(text)))).toEqual([true, true, true, true])
  })
})
