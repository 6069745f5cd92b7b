import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lookAt, readBody, readBodyQuickly } from '../../../../runtime/graphql/http/request.ts'
import { HttpFailure } from '../../../../runtime/http/boundary.ts'

const outcomeOf = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    if (error instanceof HttpFailure) return error.code
    throw error
  }
}

describe('a look at a body', () => {
  it('finds the members of an object, as they are written', () => {
    const { members } = lookAt(' { "query" : "{a \\"}\\\\" ,"a\\u0062":[1,{"c":","}],"query":\n"b"}')
    expect([...(members ?? [])].map(([name, { text, weight }]) => [name, text.trim(), weight])).toEqual([
      ['query', '"b"', 0],
      ['ab', '[1,{"c":","}]', 9.25],
    ])
    expect(lookAt('[{"query":"a"}]').members).toBeNull()
  })
  it('finds the members, depth and numbers that parsing finds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(4), (value, spaces) => {
        const text = JSON.stringify(value, null, spaces)
        const { members, depth } = lookAt(text)
        const read = Object.fromEntries([...(members ?? [])].map(([name, member]) => [name, JSON.parse(member.text)]))
        expect(read).toEqual(JSON.parse(JSON.stringify(value)))
        const deepest = (inner: unknown): number =>
          typeof inner === 'object' && inner !== null ? 1 + Math.max(0, ...Object.values(inner).map(deepest)) : 0
        expect(depth).toBe(deepest(value))
      }),
    )
    expect(lookAt('{"a":"1234567890123456"}').hasExactNumber).toBe(false)
    expect(lookAt('{"a":[1.234567890123456789]}').hasExactNumber).toBe(true)
  })
})

describe('a body that is read quickly', () => {
  const padding = ' '.repeat(5_000)
  it('means the same as one that is read at leisure', () => {
    const parameters = fc.record(
      {
        query: fc.oneof(fc.string(), fc.jsonValue()),
        variables: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
        operationName: fc.oneof(fc.string(), fc.jsonValue()),
        extensions: fc.dictionary(fc.string(), fc.jsonValue()),
        more: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    const broken = fc.tuple(fc.nat(), fc.constantFrom('', '"', '{', ']', '\\', ',')).map(
      ([at, put]) =>
        (text: string): string =>
          `${text.slice(0, at % text.length)}${put}${text.slice((at % text.length) + 1)}`,
    )
    const change = fc.oneof(
      { weight: 3, arbitrary: fc.constant((text: string) => text) },
      { weight: 1, arbitrary: broken },
    )
    fc.assert(
      fc.property(parameters, change, (value, changed) => {
        const text = `${changed(JSON.stringify(value))}${padding}`
        expect(outcomeOf(() => readBodyQuickly(text))).toEqual(outcomeOf(() => readBody(text)))
      }),
      { numRuns: 500 },
    )
  })
  it('leaves many values unread, wherever they are, and says what it asks', () => {
    const many = Array.from({ length: 9_000 }, (_, index) => index)
    const asked = { query: '{a}', operationName: 'A', extensions: { persistedQuery: { sha256Hash: 'b' } } }
    for (const more of [{ variables: { many } }, { variables: { a: 1 }, junk: many }, { variables: many }]) {
      const text = JSON.stringify({ ...asked, ...more })
      expect(readBodyQuickly(text)).toEqual({ ...asked, variables: {}, queryOnly: false, unread: text })
    }
    const text = JSON.stringify({ ...asked, extensions: { ...asked.extensions, many } })
    expect(readBodyQuickly(text).extensions).toEqual(asked.extensions)
  })
  it('leaves exact numbers beside long texts unread', () => {
    const text = `{"query":"{a}","variables":{"n":12345678901234567890,"t":"${'a'.repeat(70_000)}"}}`
    expect(readBodyQuickly(text).unread).toBe(text)
    expect(readBodyQuickly(`{"query":"{a}#${'9'.repeat(70_000)}"}`).unread).toBeUndefined()
  })
  it('refuses values other than objects, and values that are nested too deeply', () => {
    const brackets = `${'['.repeat(9_000)}${']'.repeat(9_000)}`
    expect(outcomeOf(() => readBodyQuickly(brackets))).toBe('BODY_MALFORMED')
    expect(outcomeOf(() => readBodyQuickly(`{"query":"{a}","variables":${brackets}}`))).toBe('BODY_MALFORMED')
  })
})
