import { describe, expect, it } from 'vitest'
import { createHealthChecks } from '../../../runtime/http/health.ts'

const setUp = () => {
  const world = {
    now: 0,
    up: true,
    pings: 0,
    lastAnswer: -Infinity,
    revision: null as string | null,
    draining: false,
    prepared: Promise.resolve(true),
  }
  const checks = createHealthChecks({
    isDraining: () => world.draining,
    revision: () => world.revision,
    compileFailedAt: () => null,
    fault: () => null,
    lastAnswer: () => world.lastAnswer,
    ping: async () => {
      world.pings++
      if (!world.up) throw new Error('down')
    },
    isPrepared: () => world.prepared,
    now: () => world.now,
  })
  return { world, ...checks }
}

describe('health', () => {
  it('of the process is good while it answers, whatever the database does', () => {
    const { world, alive } = setUp()
    world.up = false
    expect(alive()).toEqual({ status: 'starting', revision: null, compileFailedAt: null, fault: null })
    world.revision = 'abc'
    expect(alive()).toEqual({ status: 'ok', revision: 'abc', compileFailedAt: null, fault: null })
    expect(world.pings).toBe(0)
  })
  it('of what is served is starting until a schema is loaded, then ok, then down while the database is', async () => {
    const { world, ready } = setUp()
    expect(await ready()).toEqual({ status: 'starting', revision: null, compileFailedAt: null, fault: null })
    world.revision = 'abc'
    expect(await ready()).toEqual({ status: 'ok', revision: 'abc', compileFailedAt: null, fault: null })
    world.up = false
    world.now += 1000
    expect((await ready()).status).toBe('down')
    world.up = true
    world.now += 1000
    expect((await ready()).status).toBe('ok')
  })
  it('is stopping while balancers notice, though the process still serves', async () => {
    const { world, alive, ready } = setUp()
    world.revision = 'one'
    world.draining = true
    expect([alive().status, (await ready()).status]).toEqual(['stopping', 'stopping'])
  })

  it('is down while what requests need is missing, and not while it is being made', async () => {
    const { world, ready } = setUp()
    Object.assign(world, { revision: 'abc', prepared: Promise.resolve(false) })
    expect((await ready()).status).toBe('down')
    Object.assign(world, { now: 1_000, prepared: new Promise(() => undefined) })
    expect((await ready()).status).toBe('ok')
  })

  it('takes the answer of any request for a good one, for five seconds', async () => {
    const { world, ready } = setUp()
    Object.assign(world, { revision: 'abc', up: false, now: 10_000, lastAnswer: 10_000 })
    expect([(await ready()).status, world.pings]).toEqual(['ok', 0])
    world.now += 4_999
    expect([(await ready()).status, world.pings]).toEqual(['ok', 0])
    world.now += 1
    expect([(await ready()).status, world.pings]).toEqual(['down', 1])
  })
  it('asks the database once a second, however often it is asked itself', async () => {
    const { world, ready } = setUp()
    world.revision = 'abc'
    await Promise.all(Array.from({ length: 50 }, ready))
    await ready()
    expect(world.pings).toBe(1)
    world.now += 1000
    await Promise.all(Array.from({ length: 50 }, ready))
    expect(world.pings).toBe(2)
  })
})
