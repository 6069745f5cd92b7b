import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inflect, isValidEnumValue, isValidName } from '../../../compiler/model/names.ts'
import { lowerFirst } from '../../../runtime/contract/name-parts.ts'
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

  it('lowers the first character only', () => {
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

describe('valid names', () => {
  it('are those of GraphQL, without the ones that belong to introspection', () => {
    expect(['a', '_a', 'A1', 'a_b'].every(isValidName)).toBe(true)
    expect(['', '1a', 'a-b', 'é', '__a', 'a\n', 'a b'].some(isValidName)).toBe(false)
    expect(isValidEnumValue('true')).toBe(false)
    expect(isValidEnumValue('True')).toBe(true)
  })

  it('law: any identifier gives a valid name, or is left out and reported (seed 22)', () => {
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
