import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diagnose, diagnosticKinds, printDiagnostics } from '../../../../compiler/catalog/diagnostics/diagnostics.ts'
import { dump } from '../../../../compiler/catalog/diagnostics/dump.ts'
import { nameColumn, nameConstraint, nameRelation, nameSchema } from '../../../../compiler/catalog/catalog.ts'

describe('names of objects', () => {
  const posts = { schema: 'public', name: 'Blog "Posts"', kind: 'm' } as const

  it('are written as their owner would write them', () => {
    expect(nameRelation(posts)).toBe('materialized view public."Blog ""Posts"""')
    expect(nameColumn({ ...posts, name: 'posts' }, 'title')).toBe('column public.posts.title')
    expect(nameConstraint({ ...posts, name: 'posts' }, 'a b')).toBe('constraint "a b" on public.posts')
    expect(nameSchema('My App')).toBe('schema "My App"')
  })
})

describe('printing', () => {
  const info = diagnose('no-key', 'table public.a', { view: false, columns: ['code'] })
  const error = diagnose('comment-json', 'table public.b', { text: 'x\ny' })

  it('has one line for each, the gravest first', () => {
    expect(printDiagnostics([info, error]).split('\n')).toEqual([
      'error: table public.b: The comment asks for @graphql(x y), which is not JSON; every request fails because of it. ' +
        '[comment-json] -> Write one JSON object with double-quoted keys between "@graphql(" and the last ")" of the ' +
        'comment, and use no other ")" after it.',
      'info: table public.a: It has no primary key, so it has no collection. [no-key] -> Add a primary key, or comment on ' +
        'it with @graphql({"primary_key_columns": ["code"]}).',
      '',
    ])
    expect(printDiagnostics([])).toBe('')
  })

  it('knows kinds by codes in kebab case', () => {
    for (const code of Object.keys(diagnosticKinds)) expect(code).toMatch(/^[a-z]+(-[a-z]+)+$/u)
  })
})

describe('dumping', () => {
  it('sorts keys, keeps lists, and keeps a key named __proto__', () => {
    const value = JSON.parse('{"b": [2, 1], "a": {"d": 1, "c": null}, "__proto__": 5}') as unknown
    expect(dump(value)).toBe(
      '{\n  "__proto__": 5,\n  "a": {\n    "c": null,\n    "d": 1\n  },\n  "b": [\n    2,\n    1\n  ]\n}\n',
    )
  })

  it('law: equal values give equal text, whatever the order of their keys (seed 11)', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        expect(dump(Object.fromEntries(Object.entries(value).toReversed()))).toBe(dump(value))
      }),
      { seed: 11 },
    )
  })
})
