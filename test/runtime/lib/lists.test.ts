import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../runtime/lib/steps.ts'
import { differencesBetween, resultsAfter } from '../../../runtime/lib/memo/differences.ts'
import { createMemo, withoutMemory, type Memo } from '../../../runtime/lib/memo/memo.ts'
import { tablesOf, type Tables, tableOf, viewOf, type Lookup } from '../../../runtime/lib/memo/tables.ts'

/** Law: what is made of one list after the other is what is made of each of them alone. */

interface Item {
  readonly name: string
  readonly at: number
  readonly likes: readonly string[]
}

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']

/** Lists of which each has items of the one before, others in their place, and others in another order. */
const anyLists = fc
  .array(
    fc.uniqueArray(
      fc.record({
        name: fc.constantFrom(...names),
        at: fc.nat(2),
        likes: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }),
      }),
      { selector: ({ name }) => name },
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((lists) => {
    const known = new Map<string, Item>()
    const one = (item: Item): Item => {
      const key = JSON.stringify(item)
      const same = known.get(key) ?? item
      known.set(key, same)
      return same
    }
    return lists.map((list) => list.map(one))
  })

describe('differencesBetween', () => {
  it('leads from one list to the next', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9)), fc.array(fc.nat(9)), (before, now) => {
        const differences = differencesBetween(before, now)
        expect(atOnce(resultsAfter(before, now, differences, (item) => item))).toEqual(now)
        for (const { from, to, start, end } of differences) expect(to - from + end - start).toBeGreaterThan(0)
      }),
    )
  })

  it('is one place for one change, wherever it is, and few for a long run', () => {
    const before = Array.from({ length: 1_000 }, (_, place) => place)
    fc.assert(
      fc.property(fc.nat(999), fc.nat(3), fc.nat(3), (place, gone, come) => {
        fc.pre(gone + come > 0 && place + gone <= 1_000)
        const now = before.toSpliced(place, gone, ...Array.from({ length: come }, (_, index) => -1 - index))
        expect(differencesBetween(before, now)).toEqual([
          { from: place, to: place + gone, start: place, end: place + come },
        ])
      }),
    )
    const replaced = before.map((item) => (item >= 100 && item < 700 ? -item : item))
    expect(differencesBetween(before, replaced)).toEqual([{ from: 100, to: 700, start: 100, end: 700 }])
  })
})

describe('a table', () => {
  it('is what its entries and changes say, and knows where it differs from each earlier one', () => {
    const anyEntries = fc.dictionary(fc.constantFrom(...names), fc.option(fc.nat(3), { nil: undefined }))
    fc.assert(
      fc.property(fc.array(anyEntries, { minLength: 1, maxLength: 100 }), (steps) => {
        const [tables, model] = [[tableOf<number>([])], new Map<string, number | undefined>()]
        const models = [new Map(model)]
        for (const step of steps) {
          for (const [key, value] of Object.entries(step)) model.set(key, value)
          tables.push((tables.at(-1) ?? tableOf<number>([])).with(new Map(Object.entries(step))))
          models.push(new Map(model))
        }
        const last = tables.at(-1)
        tables.forEach((table, index) => {
          for (const name of names) expect(table.get(name)).toBe(models[index]?.get(name))
          const changed = last?.changesSince(table) ?? names
          for (const name of names) if (table.get(name) !== last?.get(name)) expect([...changed]).toContain(name)
        })
        expect([...(last?.changesSince(tables.at(-2) ?? last) ?? names)].length).toBeLessThanOrEqual(names.length)
      }),
    )
  })

  it('knows the last change also where the layers became one', () => {
    let table = tableOf(Array.from({ length: 100 }, (_, index) => [`${index}`, index] as const))
    for (let step = 0; step < 300; step += 1) {
      const next = table.with(new Map([[`${step}`, -1]]))
      expect([...(next.changesSince(table) ?? ['none'])]).toContain(`${step}`)
      expect([...(next.changesSince(table) ?? [])].length).toBeLessThan(80)
      table = next
    }
  })
})

interface World extends Tables {
  readonly items: Lookup<Item>
  readonly places: Lookup<number>
  readonly lovers: Lookup<readonly Item[]>
  readonly plain: Lookup<number>
}

const nameOf = ({ name }: Item): string => name
const likedBy = ({ likes }: Item): readonly string[] => likes
const placeOf = ({ at }: Item): number => at

const described = (item: Item, world: World): string =>
  [
    item.name,
    ...item.likes.map((name) => `${world.places.get(name) ?? '-'}${world.items.get(name)?.likes.join('') ?? ''}`),
    // Later lookups depend on earlier results.
    ...item.likes.flatMap((name) => (world.items.get(name)?.likes ?? []).map((next) => world.places.get(next) ?? '-')),
    ...(item.at === 0 ? (world.lovers.get(item.name) ?? []).map(nameOf) : []),
    world.plain.get(`${item.at}`),
  ].join(' ')

const loud = (item: Item, suffix: string): string => item.name.toUpperCase() + suffix

/** Of what was made of another list, which knows where it differs. */
const fond = (item: Item, world: World): Item => ({
  name: item.name,
  at: item.at,
  likes: item.likes.filter((name) => world.items.get(name) !== undefined),
})

const alike = ({ likes }: Item): string => likes.join('')

const quietly = (text: string): string => text.toLowerCase()

const whisper = async (item: Item, suffix: string): Promise<string> => item.name + suffix

async function made(memo: Memo, items: readonly Item[]): Promise<unknown> {
  const byName = memo.table(nameOf, items)
  const world = tablesOf({
    items: byName,
    places: viewOf(byName, placeOf),
    lovers: atOnce(memo.groups(likedBy, items)),
    plain: new Map([[`${items.length % 3}`, 1]]),
  })
  const fonds = atOnce(memo.each(fond, items, world))
  const likes = atOnce(memo.map(alike, fonds))
  const lovers = atOnce(memo.groups(likedBy, fonds))
  return [
    [fonds, likes, atOnce(memo.map(quietly, likes)), names.map((name) => lovers.get(name) ?? [])],
    atOnce(memo.each(described, items, world)),
    atOnce(memo.map(loud, items, items.length > 5 ? '!' : '')),
    await memo.eachLater(whisper, items, items.length > 5 ? '?' : ''),
    names.map((name) => [byName.get(name), world.lovers.get(name) ?? []]),
  ]
}

describe('a memory of lists', () => {
  it('makes of each list what is made of it alone', async () => {
    await fc.assert(
      fc.asyncProperty(anyLists, async (lists) => {
        const memo = createMemo()
        for (const list of lists) expect(await made(memo, list)).toEqual(await made(withoutMemory, list))
      }),
    )
  })

  it('follows what an item looked up when it was made last', async () => {
    const memo = createMemo()
    const [a, c, d]: readonly Item[] = [
      { name: 'a', at: 1, likes: ['b'] },
      { name: 'c', at: 1, likes: [] },
      { name: 'd', at: 1, likes: [] },
    ]
    const b = (likes: Item['likes']): Item => ({ name: 'b', at: 1, likes })
    const [first, second] = [b(['c']), b(['d'])]
    if (a === undefined || c === undefined || d === undefined) throw new Error('three')
    const moved = (item: Item): Item => ({ ...item, at: item.at + 1 })
    for (const list of [
      [a, first, c, d],
      [a, second, c, d],
      [a, second, c, moved(d)],
      [a, second, moved(c), d],
      [a, first, moved(c), d],
      [a, first, c, d],
    ])
      expect(await made(memo, list)).toEqual(await made(withoutMemory, list))
  })

  it('finds the items that share a key', () => {
    const shares = (one: Item, other: Item): boolean =>
      one !== other && one.likes.some((name) => other.likes.includes(name))
    fc.assert(
      fc.property(anyLists, (lists) => {
        const memo = createMemo()
        for (const list of lists) {
          const found = list.filter((item) => list.some((other) => shares(item, other)))
          for (const one of [memo, withoutMemory]) expect(atOnce(one.sharing(likedBy, list))).toEqual(found)
          expect(atOnce(memo.sharing(likedBy, [...list]))).toBe(atOnce(memo.sharing(likedBy, list)))
        }
      }),
    )
  })

  it('goes on after a failure as if it had not been', () => {
    const memo = createMemo()
    let broken = true
    const fragile = (item: Item, world: World): string => {
      if (broken && item.name === 'b') throw new Error('broken')
      return described(item, world)
    }
    const worldOf = (items: readonly Item[]): World =>
      tablesOf({ items: memo.table(nameOf, items), places: new Map(), lovers: new Map(), plain: new Map() })
    const [a, b, c]: readonly Item[] = [
      { name: 'a', at: 1, likes: ['c'] },
      { name: 'b', at: 1, likes: ['c'] },
      { name: 'c', at: 1, likes: [] },
    ]
    if (a === undefined || b === undefined || c === undefined) throw new Error('three')
    broken = false
    atOnce(memo.each(fragile, [a, b, c], worldOf([a, b, c])))
    broken = true
    const other = { ...c, likes: ['a'] }
    expect(() => atOnce(memo.each(fragile, [a, b, other], worldOf([a, b, other])))).toThrow('broken')
    broken = false
    const world = worldOf([a, b, other])
    expect(atOnce(memo.each(fragile, [a, b, other], world))).toEqual(
      [a, b, other].map((item) => described(item, world)),
    )
  })

  it('looks only at what looked up what changed', () => {
    const memo = createMemo()
    const looked: string[] = []
    const fond = (item: Item, world: World): string => {
      looked.push(item.name)
      return described(item, world)
    }
    const all: readonly Item[] = names.map((name, place) => ({ name, at: 1, likes: names.slice(place - 1, place) }))
    const run = (items: readonly Item[]): readonly string[] => {
      atOnce(
        memo.each(
          fond,
          items,
          tablesOf({ items: memo.table(nameOf, items), places: new Map(), lovers: new Map(), plain: new Map() }),
        ),
      )
      return looked.splice(0)
    }
    expect(run(all)).toEqual(names)
    expect(run([...all])).toEqual([])
    expect(run(all.map((item) => (item.name === 'd' ? { ...item } : item)))).toEqual(['d', 'e'])
  })
})
