import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../runtime/lib/steps.ts'
import { createMemo, withoutMemory, type Memo } from '../../../runtime/lib/memo/memo.ts'
import { tablesOf, type Tables, type Lookup } from '../../../runtime/lib/memo/tables.ts'

interface Item {
  readonly name: string
  readonly type: string
}

interface Types extends Tables {
  readonly types: Lookup<string>
}

/** Counts what was made; the functions are plain ones, as those of a module. */
function counted() {
  const made: string[] = []
  const text = ({ name, type }: Item, { types }: Types): string => {
    made.push(name)
    return `${name} ${types.get(type) ?? 'of nothing'}`
  }
  const outer = (item: Item, memo: Memo, tables: Types): string => {
    made.push(`outer ${item.name}`)
    return memo.of(text, item, tables).toUpperCase()
  }
  const take = (): readonly string[] => made.splice(0)
  return { text, outer, take }
}

const typesOf = (...types: readonly (readonly [string, string])[]): Types => tablesOf({ types: new Map(types) })

const a: Item = { name: 'a', type: 'x' }
const b: Item = { name: 'b', type: 'y' }
const c: Item = { name: 'c', type: 'z' }

describe('createMemo', () => {
  it('makes again what was looked up and has changed, and nothing else', () => {
    const { text, take } = counted()
    const memo = createMemo()
    const all = (tables: Types): readonly string[] => [a, b].map((item) => memo.of(text, item, tables))
    expect(all(typesOf(['x', 'one']))).toEqual(['a one', 'b of nothing'])
    expect(take()).toEqual(['a', 'b'])
    all(typesOf(['x', 'one'], ['z', 'more']))
    expect(take()).toEqual([])
    expect(all(typesOf(['x', 'one'], ['y', 'two']))).toEqual(['a one', 'b two'])
    expect(take()).toEqual(['b'])
  })

  it('knows what was looked up further in, also where that was remembered', () => {
    const { text, outer, take } = counted()
    const memo = createMemo()
    const one = typesOf(['x', 'one'])
    memo.of(text, a, one)
    expect(memo.of(outer, a, memo, one)).toBe('A ONE')
    expect(take()).toEqual(['a', 'outer a'])
    expect(memo.of(outer, a, memo, typesOf(['x', 'two']))).toBe('A TWO')
    expect(take()).toEqual(['outer a', 'a'])
  })

  it('makes of a list what came and what changed, and keeps the list where nothing did', () => {
    const { outer, take } = counted()
    const memo = createMemo()
    const each = (items: readonly Item[], tables: Types): readonly string[] =>
      atOnce(memo.each(outer, items, memo, tables))
    const first = each([a, b], typesOf(['x', 'one']))
    take()
    expect(each([a, b], typesOf(['x', 'one']))).toBe(first)
    expect(each([a, c, b], typesOf(['x', 'one']))).toEqual(['A ONE', 'C OF NOTHING', 'B OF NOTHING'])
    expect(take()).toEqual(['outer c', 'c'])
    expect(each([a, c, b], typesOf(['x', 'one'], ['z', 'three']))).toEqual(['A ONE', 'C THREE', 'B OF NOTHING'])
    expect(take()).toEqual(['outer c', 'c'])
    expect(each([b, a], typesOf(['x', 'four']))).toEqual(['B OF NOTHING', 'A FOUR'])
    expect(take()).toEqual(['outer a', 'a'])
  })

  it('keeps a result that says the same', () => {
    const memo = createMemo()
    const keyOf = (item: Item, version: number): object => ({ name: item.name, version: version > 2 })
    const before = memo.same(keyOf, a, 1)
    expect(memo.same(keyOf, a, 2)).toBe(before)
    expect(memo.same(keyOf, a, 3)).toEqual({ name: 'a', version: true })
  })

  it('forgets a failure', async () => {
    const memo = createMemo()
    let calls = 0
    const fail = async ({ name }: Item): Promise<string> => {
      calls += 1
      if (calls === 1) throw new Error('not yet')
      return name
    }
    await expect(memo.later(fail, a)).rejects.toThrow('not yet')
    expect([await memo.later(fail, a), memo.later(fail, a), calls]).toEqual(['a', 'a', 2])
  })

  it('lets others run between items that take their time', async () => {
    let turns = 0
    const count = (): void => {
      turns += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    const busy = async ({ name }: Item): Promise<string> => {
      const until = performance.now() + 15
      while (performance.now() < until);
      return name
    }
    expect(await createMemo().eachLater(busy, [a, b, c])).toEqual(['a', 'b', 'c'])
    clearImmediate(next)
    expect(turns).toBeGreaterThanOrEqual(3)
  })

  it('makes the same as without a memory', () => {
    const { outer } = counted()
    const tables = typesOf(['x', 'one'], ['z', 'two'])
    const made = (memo: Memo): readonly string[] => atOnce(memo.each(outer, [a, b, c], memo, tables))
    expect(made(createMemo())).toEqual(made(withoutMemory))
  })
})
