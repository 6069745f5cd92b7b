import { describe, expect, it } from 'vitest'
import { builderOf, column, entity } from './models.ts'

describe('the builder of an entity', () => {
  const posts = entity('public', 'posts', {
    columns: [
      column('id', 'int4', { notNull: true }),
      column('title', 'varchar(8)'),
      column('tags', 'text[]'),
      column('boxes', 'box[]', { plainDelimiter: false }),
      column('box', 'box', { plainDelimiter: false }),
    ],
    computed: [{ id: 'full', schema: 'public', function: 'full_name', json: { kind: 'text' } }],
  })
  const built = builderOf(posts)

  it('keeps NOT NULL', () => {
    expect([built.columns['id']?.notNull, built.columns['title']?.notNull]).toEqual([true, false])
  })

  it('finds nothing by the names that every object has', () => {
    expect(built.columns['constructor']).toBeUndefined()
    const odd = builderOf(entity('s', 't', { columns: [column('__proto__')] }))
    expect(Object.keys(odd.columns)).toEqual(['__proto__'])
    expect(odd.columns['__proto__']?.of('t')).toBe('t."__proto__"')
  })

  it('keeps types apart whose names look alike', () => {
    const odd = builderOf(
      entity('s', 't', {
        columns: [column('a', '"a b"'), column('b', '"a-b"'), column('c', 'int4[]'), column('d', 'int4_array')],
      }),
    )
    expect(Object.values(odd.columns).map(({ operand }) => operand('$1'))).toEqual([
      '$1::"a b"',
      '$1::"a-b"',
      '$1::int4[]',
      '$1::int4_array',
    ])
  })
})
