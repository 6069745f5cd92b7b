import { describe, expect, it } from 'vitest'
import type { Revision } from '../../../runtime/contract/artifact.ts'
import { begun } from '../../../runtime/graphql/run/watch-source.ts'

/** A source, and how often it was asked. The first time it fails, if it is to. */
const counted = (fails: boolean) => {
  let asked = 0
  const source = async (): Promise<Revision> => {
    asked += 1
    if (fails && asked === 1) throw new Error('away')
    return { id: String(asked) } as Revision
  }
  return { source, asked: () => asked }
}

describe('a source that has begun', () => {
  it('was asked before the first caller, and hands that revision over once', async () => {
    const { source, asked } = counted(false)
    const begins = begun(source)
    expect(asked()).toBe(1)
    expect([(await begins()).id, (await begins()).id]).toEqual(['1', '2'])
    expect(asked()).toBe(2)
  })

  it('reports a failure to its callers, and not to the process, and is asked again then', async () => {
    const begins = begun(counted(true).source)
    // An unhandled rejection would end the process now.
    await new Promise((resolve) => setTimeout(resolve, 10))
    await expect(begins()).rejects.toThrow('away')
    expect((await begins()).id).toBe('2')
  })
})
