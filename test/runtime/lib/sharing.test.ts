import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFairQueue } from '../../../runtime/lib/sharing/fair-queue.ts'
import {
  createPlaces,
  type Lease,
  type PartyKind,
  type Places,
  type Sharer,
  type Speed,
} from '../../../runtime/lib/sharing/places.ts'
import { createScheduler, LeftQueue, QueueFull, type Waiter } from '../../../runtime/lib/sharing/scheduler.ts'

/** docs/sharing.md */

const speed: Speed = { slowMs: 100, mostCredit: 10, quickFrom: 5, price: 5, keptMs: 1_000 }
const sharerOf = (party: string, kind: PartyKind = 'stranger'): Sharer => ({ party, kind })

interface Work {
  readonly sharer: Sharer
}

interface Step {
  readonly party: number
  readonly kind: PartyKind
  readonly ms: number
  readonly ends: number | null
}

const steps = fc.array(
  fc.record<Step>({
    party: fc.nat(4),
    kind: fc.constantFrom<PartyKind>('stranger', 'member', 'service'),
    ms: fc.constantFrom(1, 1, 1, 30, 120, 1_100),
    ends: fc.option(fc.nat(20), { freq: 2 }),
  }),
  { maxLength: 200 },
)

/** Places whose work ends, and whose clock goes on, as the steps say. */
function simulate(size: number, beyond: number, drawn: readonly Step[], check: (scheduler: Simulated) => void): void {
  const clock = { ms: 0 }
  const places = createPlaces({ size, beyond, speed }, () => clock.ms)
  const line = createFairQueue<Work>(places)
  const held: (Work & { readonly lease: Lease })[] = []
  const waiting = new Set<Work>()
  const scheduler: Simulated = { places, held, waiting }
  const fill = (): void => {
    while (held.length < places.max) {
      const before = [...waiting]
      const work = line.next()
      if (work === null) break
      waiting.delete(work)
      const fewest = Math.min(
        ...before.filter(({ sharer }) => places.mayTake(sharer)).map(({ sharer }) => places.heldBy(sharer.party)),
      )
      expect(places.heldBy(work.sharer.party), 'of those who may take a place one with the fewest is next').toBe(fewest)
      held.push({ ...work, lease: places.take(work.sharer) })
    }
    check(scheduler)
  }
  const end = (at: number): void => {
    for (const { lease } of held.splice(at % held.length, 1)) places.release(lease)
    fill()
  }
  for (const { party, kind, ms, ends } of drawn) {
    clock.ms += ms
    const work = { sharer: sharerOf(kind === 'service' ? kind : `${kind} ${party}`, kind) }
    line.add(work)
    waiting.add(work)
    fill()
    if (ends !== null && held.length > 0) end(ends)
  }
  // Each end lets work begin, until all of it has had a place.
  for (let left = held.length + waiting.size; left > 0; left -= 1) {
    clock.ms += 1_100
    fill()
    expect(held.length).toBeGreaterThan(0)
    end(0)
  }
  expect([held.length, waiting.size, line.waiting.count]).toEqual([0, 0, 0])
}

interface Simulated {
  readonly places: Places
  readonly held: readonly Work[]
  readonly waiting: ReadonlySet<Work>
}

const sizes = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 2 }), steps)

describe('the laws of sharing', () => {
  test('a caller leaves three places, strangers together one, and callers never have those beyond theirs', () => {
    fc.assert(
      fc.property(sizes, ([size, beyond, drawn]) =>
        simulate(size, beyond, drawn, ({ held }) => {
          const count = (of: (sharer: Sharer) => boolean): number => held.filter(({ sharer }) => of(sharer)).length
          expect(held.length).toBeLessThanOrEqual(size + beyond)
          expect(count(({ kind }) => kind !== 'service')).toBeLessThanOrEqual(size)
          expect(count(({ kind }) => kind === 'stranger')).toBeLessThanOrEqual(Math.max(1, size - 1))
          for (const { sharer } of held) {
            const most = sharer.kind === 'service' ? size : Math.max(1, size - 3)
            expect(count(({ party }) => party === sharer.party)).toBeLessThanOrEqual(most)
          }
        }),
      ),
    )
  })

  test('no place is free while work waits that may have it', () => {
    fc.assert(
      fc.property(sizes, ([size, beyond, drawn]) =>
        simulate(size, beyond, drawn, ({ places, held, waiting }) => {
          if (held.length === places.max) return
          for (const { sharer } of waiting) expect(places.mayTake(sharer)).toBe(false)
        }),
      ),
    )
  })

  test('after quick work, slow work leaves three places and new work two, however many parties there are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.nat(20), (size, slowOnes) => {
        const clock = { ms: 0 }
        const places = createPlaces({ size, speed }, () => clock.ms)
        const [guest, user] = [sharerOf('quick'), sharerOf('user', 'member')]
        const hold = (sharer: Sharer, ms: number): void => {
          const lease = places.take(sharer)
          clock.ms += ms
          places.release(lease)
        }
        for (let number = 0; number < slowOnes; number += 1) hold(sharerOf(`slow ${number}`), 101)
        for (let number = 0; number < 5; number += 1) for (const quick of [guest, user]) hold(quick, 1)
        const takeAll = (name: string, most: number): number => {
          let taken = 0
          for (let number = 0; number < most; number += 1) {
            if (!places.mayTake(sharerOf(`${name} ${number}`))) continue
            places.take(sharerOf(`${name} ${number}`))
            taken += 1
          }
          return taken
        }
        const slow = takeAll('slow', slowOnes)
        expect(slow).toBeLessThanOrEqual(Math.max(1, Math.min(size / 2, size - 3)))
        expect(slow + takeAll('new', 20)).toBe(size === 3 ? 2 : Math.max(1, size - 2))
        expect(places.mayTake(guest)).toBe(size > 3)
        if (size > 3) places.take(guest)
        expect(places.mayTake(user)).toBe(size > 1)
      }),
    )
  })

  test('of the places for slow work and of those for new work a caller leaves one to others', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), fc.boolean(), (size, isSlow) => {
        const clock = { ms: 0 }
        const places = createPlaces({ size, speed }, () => clock.ms)
        const run = (sharer: Sharer, ms: number): void => {
          const lease = places.take(sharer)
          clock.ms += ms
          places.release(lease)
        }
        const [greedy, other] = [sharerOf('greedy', 'member'), sharerOf('other', 'member')]
        if (isSlow) for (const sharer of [greedy, other]) run(sharer, 101)
        for (let number = 0; number < 5; number += 1) run(sharerOf('quick', 'member'), 1)
        while (places.mayTake(greedy)) places.take(greedy)
        // Fewer places cannot be shared so.
        expect(places.mayTake(other)).toBe(size >= (isSlow ? 5 : 3))
      }),
    )
  })
})

describe('places', () => {
  const setUp = () => {
    const clock = { ms: 0 }
    const places = createPlaces({ size: 8, speed }, () => clock.ms)
    const hold = (sharer: Sharer, ms: number): void => {
      const lease = places.take(sharer)
      clock.ms += ms
      places.release(lease)
    }
    const quick = sharerOf('quick')
    for (let index = 0; index < 5; index += 1) hold(quick, 2)
    return { clock, places, hold, quick }
  }
  const takeAll = (places: Places, name: string): number => {
    let taken = 0
    for (; places.mayTake(sharerOf(`${name} ${taken}`)); taken += 1) places.take(sharerOf(`${name} ${taken}`))
    return taken
  }

  test('are kept for work that was quick five times, and of its last two not slow', () => {
    const { places, hold, quick } = setUp()
    expect(takeAll(places, 'new')).toBe(6)
    expect(places.mayTake(quick)).toBe(true)
    for (let index = 0; index < 2; index += 1) hold(quick, 101)
    expect(places.mayTake(quick)).toBe(false)
  })

  test('count work as slow while it holds one for long, whatever it was before', () => {
    const { clock, places, hold, quick } = setUp()
    hold(sharerOf('slow'), 101)
    for (let index = 0; index < 4; index += 1) places.take(quick)
    expect(places.mayTake(sharerOf('slow'))).toBe(true)
    clock.ms += 101
    hold(sharerOf('other', 'member'), 1)
    expect(places.mayTake(sharerOf('slow'))).toBe(false)
    expect(places.mayTake(sharerOf('new'))).toBe(true)
  })

  test('are too many for slow work that began later than as much slow work as may run', () => {
    const { clock, places, hold } = setUp()
    const leases = Array.from({ length: 5 }, (_, number) => {
      clock.ms += 1
      return places.take(sharerOf(`new ${number}`))
    })
    clock.ms += 101
    hold(sharerOf('other', 'member'), 1)
    expect(leases.map((lease) => places.isOver(lease))).toEqual([false, false, false, false, true])
  })

  test('are not earned by work that is given up, however soon', () => {
    const { places, hold } = setUp()
    const leaving: Sharer = { ...sharerOf('leaving'), aborted: true }
    for (let index = 0; index < 20; index += 1) hold(leaving, 1)
    takeAll(places, 'new')
    expect(places.mayTake(leaving)).toBe(false)
  })

  test('are all for strangers a second after the last quick work, but the last one', () => {
    const { clock, places } = setUp()
    expect(takeAll(places, 'new')).toBe(6)
    clock.ms += 1_000
    expect(takeAll(places, 'late')).toBe(1)
  })
})

describe('a scheduler', () => {
  const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))
  /** Work that is recorded when it runs, and ends on demand. */
  const createWork = () => {
    const ran: string[] = []
    const ends: (() => void)[] = []
    const work = (name: string) => () => {
      ran.push(name)
      return new Promise<string>((resolve) => ends.push(() => resolve(name)))
    }
    const endOne = async (): Promise<void> => {
      ends.shift()?.()
      await turn()
    }
    return { ran, work, endOne }
  }

  test('lets parties take turns, and strangers with members', async () => {
    const scheduler = createScheduler({ size: 1 })
    const { ran, work, endOne } = createWork()
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2', 'M1', 'M2']
    const kindOf = (name: string): PartyKind => (name.startsWith('M') ? 'member' : 'stranger')
    const done = names.map((name) => scheduler.run(sharerOf(name.charAt(0), kindOf(name)), work(name)))
    for (const _ of names) await endOne()
    expect(ran).toEqual(['a1', 'a2', 'M1', 'b1', 'M2', 'c1', 'a3', 'b2'])
    expect(await Promise.all(done)).toEqual(names)
  })

  test('refuses beyond the most that wait of a party, of strangers and of all', async () => {
    const scheduler = createScheduler({ size: 1, queue: { each: 2, all: 4 } })
    const { work } = createWork()
    const run = (party: string, kind?: PartyKind) => scheduler.run(sharerOf(party, kind), work(party))
    for (const party of ['a', 'a']) void run(party)
    expect(scheduler.waiting()).toBe(1)
    void run('a')
    await expect(run('a')).rejects.toThrow(QueueFull)
    await expect(run('b')).rejects.toThrow(QueueFull)
    for (const party of ['m', 'n']) void run(party, 'member')
    await expect(run('o', 'member')).rejects.toThrow(QueueFull)
  })

  test('goes on after work that failed, and after work whose caller left', async () => {
    const scheduler = createScheduler({ size: 1, queue: { each: 9, all: 9 } })
    const failing = scheduler.run(undefined, () => Promise.reject(new Error('failed')))
    const waiter: Waiter = { onAbort: null }
    const leaving = scheduler.run(undefined, () => Promise.resolve('left'), { waiter })
    const next = scheduler.run(undefined, () => Promise.resolve('done'))
    waiter.onAbort?.()
    await expect(failing).rejects.toThrow('failed')
    await expect(leaving).rejects.toThrow(LeftQueue)
    expect(await next).toBe('done')
  })

  test('lets a party rest that has more work, and others have its place', async () => {
    const scheduler = createScheduler({ size: 2, rests: 3 })
    const { ran, work, endOne } = createWork()
    const run = (name: string) => scheduler.run(sharerOf(name.charAt(0), 'member'), work(name), { ownMs: () => 10 })
    const done = ['a1', 'a2', 'b1', 'b2', 'c1'].map(run)
    for (const _ of ['a1', 'b1', 'c1']) await endOne()
    expect(ran).toEqual(['a1', 'b1', 'c1'])
    await expect.poll(() => ran.slice(3)).toEqual(['a2', 'b2'])
    for (const _ of ['a2', 'b2']) await endOne()
    await Promise.all(done)
  })

  test('stops work that turns slow beside other slow work, and no other', async () => {
    const scheduler = createScheduler({
      size: 4,
      speed: { slowMs: 50, mostCredit: 1, quickFrom: 1, price: 2, keptMs: Infinity },
    })
    const stopped: string[] = []
    const run = (party: string): Promise<void> => {
      let stop: () => void = () => undefined
      const work = () =>
        new Promise<void>((resolve) => {
          stop = resolve
          setTimeout(resolve, 200)
        })
      return scheduler.run(sharerOf(party), work, {
        stop: () => {
          stopped.push(party)
          stop()
        },
      })
    }
    const first = run('first')
    await new Promise((resolve) => setTimeout(resolve, 5))
    await Promise.all([first, run('second')])
    expect(stopped).toEqual(['second'])
  })
})
