import { describe, expect, it } from 'vitest'
import { column, schema, table } from '../../support/catalog-literal.ts'
import { build } from './build.ts'

/** Additions of a table or a schema, and the name of a type that each brings with a table `Post`. */
const additions = [
  ['relationFilters', 'PostRelationFilter'],
  ['orderByRelated', 'PostRelationOrderBy'],
  ['distinctOn', 'PostDistinctField'],
  ['groups', 'PostGroupBy'],
] as const

describe.each(additions)('%s: the setting', (key, brought) => {
  const on = `@graphql({"${key}": {"enabled": true}})`
  const enabled = (ofSchema: string | null, ofTable: string | null): boolean | undefined =>
    build({
      schemas: [schema('public', ofSchema)],
      relations: [table('posts', undefined, { comment: ofTable })],
    }).entity('posts')[key]

  it('is off until a comment switches it on; the table goes before its schema', () => {
    const off = `@graphql({"${key}": {"enabled": false}})`
    expect(enabled(null, null)).toBeUndefined()
    expect(enabled(null, on)).toBe(true)
    expect(enabled(on, null)).toBe(true)
    expect(enabled(on, off)).toBeUndefined()
    expect(enabled(off, on)).toBe(true)
    expect(enabled(on, `@graphql({"${key}": {}})`)).toBe(true)
  })

  const told = (comment: string, ofColumn: string | null = null) =>
    build({
      relations: [table('posts', [column('id', 'int4', { notNull: true, comment: ofColumn })], { comment })],
    }).diagnostics.map(({ object, message, fix }) => [object, message, fix].join(' | '))

  it('is reported where it is misspelt, ill-typed or in the wrong place, and serving goes on', () => {
    const wrong = key.toUpperCase()
    expect(told(`@graphql({"${wrong}": {"enabled": true}})`)).toEqual([
      expect.stringMatching(`posts.*"${wrong}".*Did you mean "${key}"`),
    ])
    expect(told(`@graphql({"${key}": {"enable": true}})`)).toEqual([
      expect.stringMatching(`"${key}".*no member "enable"; did you mean "enabled"`),
    ])
    for (const value of ['true', '{"enabled": 1}', '[]']) {
      const text = `@graphql({"${key}": ${value}})`
      expect(told(text)).toEqual([expect.stringMatching(`"${key}" .*cannot be used as it stands`)])
      expect(enabled(null, text)).toBeUndefined()
    }
    expect(told('', on)).toEqual([expect.stringMatching(/column.*Set it in the comment of a schema or a table/)])
  })

  it('takes no name from a schema that does not use it', () => {
    const taken = (comment: string | null, other: string) =>
      build({ schemas: [schema('public', comment)], relations: [table('Post'), table(other)] }).codes
    expect(taken(null, brought)).toEqual([])
    expect(taken(on, brought)).toEqual(['name-taken'])
    // The suffixes of PostRelation's own types make them names of types of Post.
    const sharing = brought.startsWith('PostRelation')
    expect(taken(null, 'PostRelation')).toEqual([])
    expect(taken(on, 'PostRelation')).toEqual(sharing ? ['name-taken'] : [])
  })
})
