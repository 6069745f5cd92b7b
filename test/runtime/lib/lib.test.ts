import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createUnorderedSet, createDeadlines, within } from '../../../runtime/lib/timers.ts'
import { createLru, createTryingLru, singleFlight } from '../../../runtime/lib/caches.ts'
import { sameJson, share } from '../../../runtime/lib/memo/differences.ts'
import { sha256Hex, suggest } from '../../../runtime/lib/text.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

describe('createDeadlines', () => {
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  it('calls once what was not called off, and not before its time', async () => {
    const setDeadline = createDeadlines(5)
    const started = performance.now()
    const passed: string[] = []
    let lateness = Number.NaN
    setDeadline(30, () => {
      passed.push('second')
      lateness = performance.now() - started - 30
    })
    setDeadline(0, () => passed.push('first'))
    setDeadline(10, () => passed.push('never'))()
    while (passed.length < 2) await pause(5)
    // On a busy machine one look may find both due: they come in no order.
    expect([new Set(passed), lateness >= 0]).toEqual([new Set(['first', 'second']), true])
    // The timer ended with the last of them, and starts again.
    await pause(20)
    setDeadline(0, () => passed.push('third'))
    while (passed.length < 3) await pause(5)
    expect(passed.slice(2)).toEqual(['third'])
  })
  it('does not call a deadline that an earlier one called off', async () => {
    const setDeadline = createDeadlines(1)
    const passed: string[] = []
    const forgets: (() => void)[] = []
    for (const name of ['one', 'other'])
      forgets.push(
        setDeadline(0, () => {
          passed.push(name)
          for (const forget of forgets) forget()
        }),
      )
    while (passed.length < 1) await pause(5)
    await pause(20)
    expect(passed).toHaveLength(1)
  })
})

describe('createUnorderedSet', () => {
  it(`law: holds what a set holds, however things come and go (SEED=${seed})`, () => {
    const steps = fc.array(fc.record({ out: fc.boolean(), which: fc.nat() }), { maxLength: 60 })
    const law = fc.property(steps, (given) => {
      const bag = createUnorderedSet<number>()
      const model = new Set<number>()
      const takes: (() => boolean)[] = []
      given.forEach(({ out, which }, item) => {
        const of = takes.length === 0 ? -1 : which % takes.length
        if (!out || of === -1) {
          takes.push(bag.add(takes.length))
          model.add(takes.length - 1)
        } else expect(takes[of]?.()).toBe(model.delete(of))
        expect([bag.size(), new Set(bag.all()), bag.all().length], `step ${item}`).toEqual([
          model.size,
          model,
          model.size,
        ])
      })
    })
    fc.assert(law, { seed, numRuns: 300 })
  })
})

describe('createLru', () => {
  it('forgets what was not used for longest', () => {
    const kept = createLru<string, number>(2)
    kept.set('a', 1)
    kept.set('b', 2)
    expect(kept.get('a')).toBe(1)
    kept.set('c', 3)
    expect([kept.get('a'), kept.get('b'), kept.get('c'), kept.size]).toEqual([1, undefined, 3, 2])
    kept.set('a', 4)
    kept.delete('c')
    expect([kept.get('a'), kept.get('c'), kept.size]).toEqual([4, undefined, 1])
    expect(kept.stats()).toEqual({ hits: 4, misses: 2, entries: 1, weight: 1 })
    kept.clear()
    expect(kept.size).toBe(0)
  })
  it('weighs what it keeps', () => {
    const kept = createLru<string, string>(10, (value, key) => key.length + value.length)
    kept.set('a', 'xxxx')
    kept.set('b', 'xxxx')
    expect(kept.size).toBe(2)
    kept.set('a', 'xxxxx')
    expect([kept.get('a'), kept.get('b')]).toEqual(['xxxxx', undefined])
    kept.set('c', 'x'.repeat(20))
    expect([kept.get('a'), kept.get('c')]).toEqual(['xxxxx', undefined])
    kept.set('d', 'x'.repeat(9))
    expect(kept.get('d')).toBe('xxxxxxxxx')
  })
})

describe('createTryingLru', () => {
  it('keeps what was asked for again, however much comes that is not', () => {
    const kept = createTryingLru<string, number>(8)
    kept.set('known', 0)
    expect(kept.get('known')).toBe(0)
    for (let value = 1; value <= 100; value += 1) kept.set(`once ${value}`, value)
    expect([kept.get('known'), kept.get('once 98'), kept.get('once 99'), kept.size]).toEqual([0, undefined, 99, 3])
    kept.set('known', 1)
    expect([kept.get('known'), kept.size]).toEqual([1, 3])
    kept.delete('known')
    kept.delete('once 100')
    expect([kept.get('known'), kept.get('once 100'), kept.size]).toEqual([undefined, undefined, 1])
    expect(kept.stats()).toEqual({ hits: 4, misses: 3, entries: 1, weight: 1 })
    kept.clear()
    expect(kept.size).toBe(0)
  })

  it(`law: gives what was kept last, and all of it weighs no more than it may (SEED=${seed})`, () => {
    const step = fc.record({ key: fc.nat(9), weight: fc.option(fc.integer({ min: 1, max: 12 }), { nil: null }) })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const max = 40
        const kept = createTryingLru<number, { readonly weight: number }>(max, ({ weight }) => weight)
        const last = new Map<number, { readonly weight: number }>()
        for (const { key, weight } of steps) {
          if (weight === null) expect([undefined, last.get(key)]).toContain(kept.get(key))
          else {
            last.set(key, { weight })
            kept.set(key, last.get(key) as { readonly weight: number })
          }
          const held = [...last].flatMap(([each]) => kept.get(each) ?? [])
          expect(held.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(max)
        }
      }),
      { seed },
    )
  })
})

describe('singleFlight', () => {
  it('shares one run among those who come while it lasts, its failure too, and then runs again', async () => {
    let runs = 0
    const fly = singleFlight(async () => {
      runs++
      await Promise.resolve()
      if (runs === 2) throw new Error('second')
      return runs
    })
    expect(await Promise.all([fly(), fly(), fly()])).toEqual([1, 1, 1])
    const failed = await Promise.allSettled([fly(), fly()])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await fly()).toBe(3)
  })
})

describe('suggest', () => {
  it('finds the nearest name, and none when all are far', () => {
    expect(suggest('compil', ['keys', 'compile', 'serve'])).toBe('compile')
    expect(suggest('SERVR', ['keys', 'compile', 'serve'])).toBe('serve')
    expect(suggest('deploy', ['keys', 'compile', 'serve'])).toBeNull()
    expect(suggest('x'.repeat(1_000_000), ['serve'])).toBeNull()
  })
})

describe('share', () => {
  const before = { name: 'a', list: [{ id: 1 }, { id: 2, tags: ['x'] }], none: null }

  it('gives what was before where the same is said', () => {
    expect(share(before, structuredClone(before))).toBe(before)
    expect(share(undefined, before)).toBe(before)
  })

  it('keeps the parts that are the same beside those that are not', () => {
    const shared = share(before, { ...structuredClone(before), name: 'b' })
    expect(shared).toEqual({ ...before, name: 'b' })
    expect(shared.list).toBe(before.list)
    const longer = share(before.list, [...structuredClone(before.list), { id: 3 }])
    expect(longer).toEqual([...before.list, { id: 3 }])
    expect(longer[1]).toBe(before.list[1])
  })

  it(`law: says what it was given, and is what was before only where that says the same JSON (SEED=${seed})`, () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const shared = share(one, other)
        expect(JSON.stringify(shared)).toBe(JSON.stringify(other))
        if (typeof one === 'object' && one !== null) expect(shared === one).toBe(sameJson(one, other))
      }),
      { seed, numRuns: 500 },
    )
  })
})

describe('within', () => {
  it('says whether a promise settled in time', async () => {
    expect(await within(1000, Promise.resolve())).toBe(true)
    expect(await within(5, new Promise(() => undefined))).toBe(false)
    await expect(within(1000, Promise.reject(new Error('no')))).rejects.toThrow('no')
  })
})

describe('sha256Hex', () => {
  it('hashes UTF-8', () => {
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(sha256Hex('ü')).toBe('607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f')
  })
})
