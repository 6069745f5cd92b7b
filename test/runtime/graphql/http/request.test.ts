import { LosslessNumber } from 'lossless-json'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readBody, readQueryString } from '../../../../runtime/graphql/http/request.ts'
import { HttpFailure } from '../../../../runtime/http/boundary.ts'

const refusal = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof HttpFailure) return `${error.code}: ${error.message}`
    throw error
  }
  return 'accepted'
}

const withVariables = (json: string): Readonly<Record<string, unknown>> =>
  readBody(`{"query":"{a}","variables":${json}}`).variables

describe('a POST body', () => {
  it('holds no number of more than a thousand digits, which would take seconds to read', () => {
    const withDigits = (count: number): string => `{"query":"{a}","variables":{"n":${'9'.repeat(count)}}}`
    expect(refusal(() => readBody(withDigits(1_000)))).toBe('accepted')
    expect(refusal(() => readBody(withDigits(1_001)))).toMatch(/^BODY_MALFORMED/)
  })

  it('becomes a request', () => {
    expect(readBody('{"query":"{a}"}')).toEqual({
      query: '{a}',
      operationName: null,
      variables: {},
      extensions: {},
      queryOnly: false,
    })
    const full = '{"query":"","operationName":"A","variables":{"b":[1]},"extensions":{"explain":true},"more":1}'
    expect(readBody(full)).toEqual({
      query: '',
      operationName: 'A',
      variables: { b: [1] },
      extensions: { explain: true },
      queryOnly: false,
    })
    expect(readBody('{"query":"{a}","operationName":null,"variables":null,"extensions":null}').variables).toEqual({})
  })

  it.each(['', 'null', '[]', '[{"query":"{a}"}]', '"x"', '{', '{"query":"{a}"}x', '\u0000', "{'query':1}"])(
    'that is no JSON object is refused: %j',
    (text) => {
      expect(refusal(() => readBody(text))).toBe('BODY_MALFORMED: The body must be a JSON object.')
    },
  )

  it.each([
    '{}',
    '{"query":null}',
    '{"query":7}',
    '{"query":["{a}"]}',
    '{"__proto__":{"query":"{a}"}}',
    '{"query":7,"extensions":{"persistedQuery":{"sha256Hash":"x"}}}',
    '{"extensions":{"persistedQuery":{"sha256Hash":1}}}',
  ])('without a query text is refused: %s', (text) => {
    expect(refusal(() => readBody(text))).toBe('QUERY_MISSING: Must provide query string.')
  })

  it('may name a persisted document instead of sending one', () => {
    expect(readBody('{"extensions":{"persistedQuery":{"sha256Hash":"ab"}}}').query).toBeNull()
  })

  it.each(['[]', '1', '"x"', 'true'])('with variables %s is refused', (json) => {
    expect(refusal(() => withVariables(json))).toBe('REQUEST_MALFORMED: variables must be an object')
    expect(refusal(() => readBody(`{"query":"{a}","extensions":${json}}`))).toMatch(/extensions must be an object/)
  })

  it('with an operation name that is not a text is refused', () => {
    expect(refusal(() => readBody('{"query":"{a}","operationName":1}'))).toMatch(/operationName must be a string/)
  })

  it('keeps the digits of numbers that a double cannot hold, or prints in another way', () => {
    expect(withVariables('{"a":9007199254740993,"b":-9223372036854775808,"c":9007199254740991}')).toEqual({
      a: 9007199254740993n,
      b: -9223372036854775808n,
      c: 9007199254740991,
    })
    expect(withVariables('{"a":1.2345678901234567,"b":1e20,"c":[{"d":123456789012345678901234567890}]}')).toEqual({
      a: 1.2345678901234567,
      b: new LosslessNumber('1e20'),
      c: [{ d: 123456789012345678901234567890n }],
    })
    for (const text of ['90071992547409.93', '25.10', '-0.0', '1E2', '1e400'])
      expect(withVariables(`{"a":[${text}]}`)).toEqual({ a: [new LosslessNumber(text)] })
    expect(withVariables('{"a":[4.5,-0.25,10,"1.0"]}')).toEqual({ a: [4.5, -0.25, 10, '1.0'] })
  })

  it('means the same whichever parser reads it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const read = withVariables(JSON.stringify({ v: value }))['v']
        expect(withVariables(`{"v":${JSON.stringify(value)},"long":1234567890123456789}`)['v']).toEqual(read)
      }),
    )
  })

  it.each(['', ',"long":12345678901234567890'])('takes the last of equal keys and pollutes no prototype %s', (long) => {
    const hostile = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'
    const variables = withVariables(`{"a":1,"a":2,${hostile}${long}}`)
    expect(variables['a']).toBe(2)
    expect(variables['polluted']).toBeUndefined()
    expect(Object.hasOwn(variables, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('that is nested without end is refused, not a crash', () => {
    const deep = (levels: number, inner: string) => '['.repeat(levels) + inner + ']'.repeat(levels)
    expect(withVariables(`{"a":${deep(500, '1')}}`)).toBeDefined()
    for (const inner of ['1', '12345678901234567890']) {
      const told = refusal(() => withVariables(`{"a":${deep(100_000, inner)}}`))
      expect(told).toBe('BODY_MALFORMED: The body is nested too deeply.')
    }
    const objects = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`
    expect(refusal(() => readBody(`{"query":"{a}","other":${objects}}`))).toMatch(/too deeply/)
    expect(refusal(() => readBody('['.repeat(500_000) + '1234567890123456'))).toMatch(/BODY_MALFORMED/)
  })
})

describe('a GET', () => {
  it('becomes a request that may only read', () => {
    const texts = { variables: '{"id":9007199254740993}', extensions: '{"explain":true}' }
    expect(readQueryString(new URLSearchParams({ query: '{a}', operationName: 'A', ...texts }))).toEqual({
      query: '{a}',
      operationName: 'A',
      variables: { id: 9007199254740993n },
      extensions: { explain: true },
      queryOnly: true,
    })
    const empty = readQueryString(new URLSearchParams({ query: '{a}', variables: '', operationName: '' }))
    expect(empty).toMatchObject({ variables: {}, operationName: null })
  })

  it('is refused when it is malformed', () => {
    expect(refusal(() => readQueryString(new URLSearchParams()))).toMatch(/^QUERY_MISSING/)
    expect(refusal(() => readQueryString(new URLSearchParams('query={a}&query={b}')))).toMatch(/^QUERY_MISSING/)
    expect(refusal(() => readQueryString(new URLSearchParams({ query: '{a}', variables: '[1]' })))).toMatch(
      /variables must be an object/,
    )
    expect(refusal(() => readQueryString(new URLSearchParams({ query: '{a}', variables: '{' })))).toMatch(
      /variables must be an object/,
    )
    expect(refusal(() => readQueryString(new URLSearchParams('query={a}&variables={}&variables={}')))).toMatch(
      /must be an object/,
    )
    expect(refusal(() => readQueryString(new URLSearchParams({ query: '{a}', extensions: '1' })))).toMatch(
      /extensions must be an object/,
    )
  })
})
