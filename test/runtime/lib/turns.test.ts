import { describe, expect, it } from 'vitest'
import { createTurns, QueueFull } from '../../../runtime/lib/turns.ts'

describe('createTurns', () => {
  /** Work that tells when it runs, and ends when it is told to. */
  const createWork = () => {
    const ran: string[] = []
    const ends: (() => void)[] = []
    const work = (name: string) => () => {
      ran.push(name)
      return new Promise<string>((resolve) => ends.push(() => resolve(name)))
    }
    const endOne = async (): Promise<void> => {
      ends.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return { ran, work, endOne }
  }

  it('runs one piece of work at a time, and a party that has many waits for those that have few', async () => {
    const turns = createTurns({ each: 3, all: 10 })
    const { ran, work, endOne } = createWork()
    const asked = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((name) => turns.run(name.charAt(0), work(name)))
    await endOne()
    for (let index = 0; index < asked.length; index += 1) await endOne()
    expect(ran).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
    expect(await Promise.all(asked)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'])
  })

  it('refuses at once what a party, or all of them, may not make wait', async () => {
    const turns = createTurns({ each: 2, all: 3 })
    const { work } = createWork()
    const run = (party: string) => turns.run(party, work(party))
    for (const party of ['a', 'a', 'a']) void run(party)
    await expect(run('a')).rejects.toThrow(QueueFull)
    void run('b')
    await expect(run('c')).rejects.toThrow(QueueFull)
  })

  it('goes on after work that failed', async () => {
    const turns = createTurns({ each: 1, all: 1 })
    const failing = turns.run('a', () => Promise.reject(new Error('failed')))
    const next = turns.run('b', () => Promise.resolve('done'))
    await expect(failing).rejects.toThrow('failed')
    expect(await next).toBe('done')
  })
})
