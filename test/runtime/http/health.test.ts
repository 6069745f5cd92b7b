import { describe, expect, it } from 'vitest'
import { createHealthCheck } from '../../../runtime/http/health.ts'

const setUp = () => {
  const world = { now: 0, up: true, pings: 0, revision: null as string | null }
  const health = createHealthCheck({
    revision: () => world.revision,
    compileFailedAt: () => null,
    ping: async () => {
      world.pings++
      if (!world.up) throw new Error('down')
    },
    now: () => world.now,
  })
  return { world, health }
}

describe('health', () => {
  it('is starting until a schema is loaded, then ok, then down while the database is', async () => {
    const { world, health } = setUp()
    expect(await health()).toEqual({ status: 'starting', revision: null, compileFailedAt: null })
    world.revision = 'abc'
    expect(await health()).toEqual({ status: 'ok', revision: 'abc', compileFailedAt: null })
    world.up = false
    world.now += 1000
    expect((await health()).status).toBe('down')
    world.up = true
    world.now += 1000
    expect((await health()).status).toBe('ok')
  })

  it('asks the database once a second, however often it is asked itself', async () => {
    const { world, health } = setUp()
    world.revision = 'abc'
    await Promise.all(Array.from({ length: 50 }, health))
    await health()
    expect(world.pings).toBe(1)
    world.now += 1000
    await Promise.all(Array.from({ length: 50 }, health))
    expect(world.pings).toBe(2)
  })
})
