import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Change, Interest } from '../../../../runtime/contract/live.ts'
import { objectId } from '../../../../runtime/contract/facts.ts'
import { createInterestIndex } from '../../../../runtime/graphql/live/streams/interests.ts'

const on = (name: string, pins: Readonly<Record<string, string>> = {}): Interest => ({
  relation: { schema: 'public', name },
  pins: Object.entries(pins).map(([column, value]) => ({ column, value })),
})
const change = (name: string, values: Readonly<Record<string, readonly string[]>> = {}): Change => ({
  relation: objectId('public', name),
  values: new Map(Object.entries(values).map(([column, list]) => [column, new Set(list)])),
})
const found = (index: ReturnType<typeof createInterestIndex<string>>, told: Change): readonly string[] => {
  const watches = new Set<string>()
  index.find(told, watches)
  return [...watches].sort()
}

describe('interests', () => {
  it('are met by changes of their rows only, and by changes of which nothing is known', () => {
    const index = createInterestIndex<string>()
    index.add('all', [on('posts')])
    index.add('one', [on('posts', { id: '1' })])
    const remove = index.add('two', [on('posts', { id: '2', owner: 'ada' }), on('users', { id: '2' })])
    expect(found(index, change('posts', { id: ['1'] }))).toEqual(['all', 'one'])
    expect(found(index, change('posts', { id: ['2'], owner: ['bob'] }))).toEqual(['all'])
    expect(found(index, change('posts', { owner: ['ada'] }))).toEqual(['all', 'one', 'two'])
    expect(found(index, change('posts'))).toEqual(['all', 'one', 'two'])
    expect(found(index, change('users', { id: ['2'] }))).toEqual(['two'])
    remove()
    expect(found(index, change('users'))).toEqual([])
    expect(found(index, change('posts'))).toEqual(['all', 'one'])
  })

  const pins = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom<string>('1', '2', '3'))
  const interest = fc.tuple(fc.constantFrom('t', 'u'), pins).map(([name, of]) => on(name, of))
  const told = fc.tuple(
    fc.constantFrom('t', 'u'),
    fc.dictionary(fc.constantFrom('a', 'b'), fc.array(fc.constantFrom<string>('1', '2', '3'), { minLength: 1 })),
  )

  it('are those that asking each watch finds', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(interest), fc.boolean())), told, (watches, [name, values]) => {
        const index = createInterestIndex<string>()
        const expected: string[] = []
        for (const [number, [interests, stays]] of watches.entries()) {
          const remove = index.add(String(number), interests)
          const isMet = interests.some(
            ({ relation, pins: all }) =>
              relation.name === name && all.every(({ column, value }) => values[column]?.includes(value) ?? true),
          )
          if (!stays) remove()
          else if (isMet) expected.push(String(number))
        }
        expect(found(index, change(name, values))).toEqual(expected.sort())
      }),
    )
  })
})
