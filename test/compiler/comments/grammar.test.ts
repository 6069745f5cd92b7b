import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseComment } from '../../../compiler/comments/settings.ts'

describe('13.1 the directive in a comment', () => {
  it('captures greedily from the first "@graphql(" to the last ")"', () => {
    expect(parseComment('before @graphql({"name": "f(x)"}) after')).toEqual({
      kind: 'settings',
      outside: 'before\nafter',
      settings: { name: 'f(x)' },
    })
  })

  it('holds its line feeds', () => {
    expect(parseComment('@graphql({\n"name":\n"X"})')).toEqual({
      kind: 'settings',
      outside: null,
      settings: { name: 'X' },
    })
  })

  it('takes two directives, or a later parenthesis, as one capture that is not JSON', () => {
    expect(parseComment('@graphql({}) (see below)').kind).toBe('broken')
    expect(parseComment('@graphql({"a": 1}) @graphql({"b": 2})').kind).toBe('broken')
  })

  it('needs at least one character: "@graphql()" is no directive', () => {
    expect(parseComment('@graphql()')).toEqual({ kind: 'plain', outside: '@graphql()', ignored: null })
    expect(parseComment('@graphql() )').kind).toBe('broken')
  })

  it('takes no effect from JSON that is not an object', () => {
    for (const text of ['[]', '1', '"x"', 'null', 'true']) {
      expect(parseComment(`@graphql(${text})`)).toEqual({ kind: 'plain', outside: null, ignored: text })
    }
  })

  it('leaves a comment without directive, or without its end, as text', () => {
    expect(parseComment('A post.')).toEqual({ kind: 'plain', outside: 'A post.', ignored: null })
    expect(parseComment('@graphql({"name": "X"}').kind).toBe('plain')
    expect(parseComment('  ')).toEqual({ kind: 'plain', outside: null, ignored: null })
    expect(parseComment(null)).toEqual({ kind: 'plain', outside: null, ignored: null })
  })

  it('law: any object between texts without ")" comes back, and so does the text (seed 1301)', () => {
    const text = fc.string().filter((value) => !value.includes(')') && !value.includes('@'))
    fc.assert(
      fc.property(text, fc.dictionary(fc.string(), fc.jsonValue()), text, (before, settings, after) => {
        const json = JSON.stringify(settings)
        const outside = [before, after]
          .map((part) => part.trim())
          .filter((part) => part !== '')
          .join('\n')
        expect(parseComment(`${before}@graphql(${json})${after}`)).toEqual({
          kind: 'settings',
          outside: outside === '' ? null : outside,
          settings: JSON.parse(json),
        })
      }),
      { seed: 1301 },
    )
  })

  it('law: reads a long hostile comment in linear time', () => {
    const started = performance.now()
    parseComment('@graphql('.repeat(200_000))
    expect(performance.now() - started).toBeLessThan(500)
  })
})
