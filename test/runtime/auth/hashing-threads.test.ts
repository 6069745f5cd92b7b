import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createHashingThreads } from '../../../runtime/auth/secrets/passwords.ts'

const hash = { kind: 'hash', password: 'correct horse', cost: 4 } as const

const priorityOf = (thread: string): number => {
  try {
    return getPriority(Number(thread))
  } catch {
    return 0
  }
}

/** Threads of this process that yield to others; some may be of other tests. */
const yielding = (): readonly string[] =>
  readdirSync('/proc/self/task').filter((thread) => priorityOf(thread) === constants.priority.PRIORITY_BELOW_NORMAL)

describe('threads that hash', () => {
  it('hash and compare', async () => {
    const { run } = createHashingThreads()
    const stored = String(await run(hash))
    expect(stored).toMatch(/^\$2a\$04\$/)
    expect(await run({ kind: 'compare', password: 'correct horse', stored, cost: 4 })).toBe('right')
    expect(await run({ kind: 'compare', password: 'wrong', stored, cost: 4 })).toBe('wrong')
  })

  it('fail with the task at fault alone', async () => {
    const { run } = createHashingThreads()
    const others = [run(hash), run(hash)]
    await expect(run({ ...hash, cost: 99 })).rejects.toThrow()
    await expect(Promise.all([...others, run(hash)])).resolves.toHaveLength(3)
  })

  it.runIf(process.platform === 'linux')(
    'yield to everything else, and end when nothing was asked for a while',
    async () => {
      const before = yielding()
      const { run } = createHashingThreads(200)
      const own = (): readonly string[] => yielding().filter((thread) => !before.includes(thread))
      await Promise.all([run(hash), run(hash)])
      expect(own()).toHaveLength(2)
      await run(hash)
      await expect.poll(own).toEqual([])
      await expect(run(hash)).resolves.toMatch(/^\$2a/)
    },
  )
})
