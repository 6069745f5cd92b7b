import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inflect } from '../../../compiler/model/inflect.ts'
import {
  argumentField,
  columnField,
  functionField,
  isValidEnumValue,
  isValidName,
  toOneField,
  typeNameOf,
} from '../../../compiler/model/names.ts'
import { baseOfField, lowerFirst, rootField } from '../../../runtime/contract/name-parts.ts'
import { column, table } from '../../support/catalog-literal.ts'
import { build } from './build.ts'

describe('2.1 casing', () => {
  it.each([
    ['blog_post', 'BlogPost'],
    ['account_BY_email', 'AccountBYEmail'],
    ['_foo', 'Foo'],
    ['a1_b', 'A1B'],
    ['foo-bar', 'Foo-Bar'],
    ['élan_é', 'ÉlanÉ'],
    ['a²b_c', 'A²bC'],
    ['', ''],
    ['__', ''],
  ])('inflects %s to %s', (name, expected) => expect(inflect(name)).toBe(expected))

  it('lower-cases the first character only', () => {
    expect(lowerFirst('URL')).toBe('uRL')
    expect(lowerFirst('Éa')).toBe('éa')
    expect(lowerFirst('')).toBe('')
  })

  it('law: inflection leaves no underscore, lowers nothing, and changes nothing the second time (seed 21)', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_ -]*$/u), (name) => {
        const inflected = inflect(name)
        expect(inflected).not.toContain('_')
        expect(inflected.toUpperCase()).toBe(name.replaceAll('_', '').toUpperCase())
        expect([...inflected].filter((c) => /[A-Z]/u.test(c)).length).toBeGreaterThanOrEqual(
          [...name].filter((c) => /[A-Z]/u.test(c)).length,
        )
        expect(inflect(inflected)).toBe(inflected)
      }),
      { seed: 21 },
    )
  })
})

describe('2.2 derived names', () => {
  it('gives types their override, their inflection or their raw name', () => {
    expect(typeNameOf('Any', 'blog_post', true)).toBe('Any')
    expect(typeNameOf(null, 'blog_post', true)).toBe('BlogPost')
    expect(typeNameOf(null, 'blog_post', false)).toBe('blog_post')
  })

  it('leaves raw column names alone and lowers inflected ones', () => {
    expect(columnField(null, 'created_at', true)).toBe('createdAt')
    expect(columnField(null, 'Created_At', false)).toBe('Created_At')
    expect(columnField('X', 'a', true)).toBe('X')
  })

  it('strips one leading underscore from functions and lowers them in both modes', () => {
    expect(functionField(null, '__full_name', true)).toBe('fullName')
    expect(functionField(null, '_Full_name', false)).toBe('full_name')
    expect(functionField(null, '__full_name', false)).toBe('_full_name')
    expect(functionField('_Kept', 'f', true)).toBe('_Kept')
  })

  it('lowers arguments in both modes', () => {
    expect(argumentField('Post_Id', true)).toBe('postId')
    expect(argumentField('Post_Id', false)).toBe('post_Id')
  })

  it('names root fields after the base name', () => {
    expect(rootField('collection', 'BlogPost')).toBe('blogPostCollection')
    expect(rootField('collection', 'blog_post')).toBe('blog_postCollection')
    expect(rootField('byKey', 'BlogPost')).toBe('blogPostByPk')
    expect(rootField('insert', 'BlogPost')).toBe('insertIntoBlogPostCollection')
  })

  it('finds the base name in a root field', () => {
    const kinds = ['collection', 'byKey', 'insert', 'update', 'delete'] as const
    for (const kind of kinds) expect(baseOfField(kind, rootField(kind, 'posts'))).toBe('posts')
    expect(baseOfField('collection', 'Collection')).toBeUndefined()
    expect(baseOfField('insert', 'insertIntoCollection')).toBeUndefined()
    expect(baseOfField('update', 'postsCollection')).toBeUndefined()
  })
})

describe('2.3 to-one names', () => {
  const inflected = { name: 'AccountHolder', schema: { inflects: true } }
  const raw = { name: 'AccountHolder', schema: { inflects: false } }

  it.each([
    [['author_id'], inflected, 'author'],
    [['author'], inflected, 'accountHolder'],
    [['author_id', 'x_id'], inflected, 'accountHolder'],
    [['authorId'], inflected, 'accountHolder'],
    [['authorId'], raw, 'author'],
    [['author_id'], raw, 'accountHolder'],
    [['main_author_id'], inflected, 'mainAuthor'],
    [['_id'], inflected, ''],
    [['Id'], raw, ''],
    [['id'], raw, 'accountHolder'],
  ] as const)('of %j towards %o is %s', (columns, target, expected) => {
    expect(toOneField(columns, target)).toBe(expected)
  })
})

describe('valid names', () => {
  it('are those of GraphQL, without the ones that belong to introspection', () => {
    expect(['a', '_a', 'A1', 'a_b'].every(isValidName)).toBe(true)
    expect(['', '1a', 'a-b', 'é', '__a', 'a\n', 'a b'].some(isValidName)).toBe(false)
    expect(isValidEnumValue('true')).toBe(false)
    expect(isValidEnumValue('True')).toBe(true)
  })

  it('law: any identifier gives a valid name, or is left out and told (seed 22)', () => {
    const identifier = fc.oneof(
      fc.string({ minLength: 1, maxLength: 63, unit: 'binary' }).filter((name) => !name.includes('\0')),
      fc.stringMatching(/^[a-zA-Z0-9_]{1,12}$/u),
      fc.constantFrom('__proto__', 'constructor', '__typename', 'toString', '_', '__', 'id'),
    )
    fc.assert(
      fc.property(identifier, identifier, fc.boolean(), (relation, name, inflects) => {
        const id = column('the key', 'int4', { notNull: true })
        const columns = name === 'the key' ? [id] : [id, column(name)]
        const { manifest, diagnostics } = build({
          schemas: [{ oid: '1', name: 'public', comment: `@graphql({"inflect_names": ${inflects}})`, grants: [] }],
          relations: [table(relation, columns, { primaryKey: ['the key'] })],
        })
        const [entity] = manifest.entities
        const told = diagnostics.filter((diagnostic) => diagnostic.code === 'name-unusable')
        const fields = (entity?.columns ?? []).flatMap((item) => (item.field === null ? [] : [item.field]))
        if (entity === undefined) {
          expect(told.map((diagnostic) => diagnostic.object.split(' ')[0])).toEqual(['table'])
          return
        }
        expect(entity.name).toMatch(/^[_A-Za-z][_0-9A-Za-z]*$/u)
        for (const field of fields) expect(field).toMatch(/^[_A-Za-z][_0-9A-Za-z]*$/u)
        expect(fields.length + told.length).toBe(columns.length)
      }),
      { seed: 22, numRuns: 300 },
    )
  })
})
