import { expect, it } from 'vitest'
import { createObjectPool } from '../../../../runtime/graphql/handler/object-pool.ts'

const ended: number[] = []
let made = 0
const open = (keeps: boolean) =>
  createObjectPool<number>({
    make: () => Promise.resolve((made += 1)),
    end: (one) => ended.push(one),
    isGood: (one) => one !== 2,
    most: 1,
    waiting: 1,
    keeps,
  })

it('the lender refuses at once a caller that would wait behind too many, and serves the others in their order', async () => {
  const pool = open(true)
  let releaseOne = (): void => undefined
  const held = pool.use((one) => new Promise<number>((resolve) => (releaseOne = () => resolve(one))))
  const second = pool.use((one) => Promise.resolve(one))
  await expect(pool.use((one) => Promise.resolve(one))).rejects.toMatchObject({ kind: 'overloaded' })
  releaseOne()
  expect([await held, await second]).toEqual([1, 1])
  expect(await pool.use((one) => Promise.resolve(one))).toBe(1)
  pool.close()
  expect(ended.splice(0)).toEqual([1])
})

it('the lender ends what failed, what is not good any more, and what is not kept', async () => {
  const pool = open(true)
  // The second one that is made is not good.
  expect(await pool.use((one) => Promise.resolve(one))).toBe(2)
  expect(ended.splice(0)).toEqual([2])
  await expect(pool.use(() => Promise.reject(new Error('it failed')))).rejects.toThrow('it failed')
  expect(ended.splice(0)).toEqual([3])
  expect(await open(false).use((one) => Promise.resolve(one))).toBe(4)
  expect(ended.splice(0)).toEqual([4])
})

it('the lender ends connections that are kept beside one that ended on its own, and lets no caller wait where none are kept', async () => {
  const lost = new Set<number>()
  const gone: number[] = []
  let count = 0
  const poolOf = (keeps: boolean) =>
    createObjectPool<number>({
      make: () => Promise.resolve((count += 1)),
      end: (one) => gone.push(one),
      isGood: (one) => !lost.has(one),
      most: 2,
      waiting: 0,
      keeps,
    })
  const kept = poolOf(true)
  await Promise.all([kept.use((one) => Promise.resolve(one)), kept.use((one) => Promise.resolve(one))])
  expect(gone).toEqual([])
  await kept.use((one) => Promise.resolve(void lost.add(one)))
  expect(gone).toEqual([1, 2])
  const unkept = poolOf(false)
  expect(await Promise.all([3, 4, 5].map(() => unkept.use((one) => Promise.resolve(one))))).toEqual([3, 4, 5])
})

it('the lender forgets a caller that leaves while waiting, so that another caller may wait', async () => {
  const pool = open(true)
  let releaseOne = (): void => undefined
  const held = pool.use(() => new Promise<void>((resolve) => (releaseOne = resolve)))
  const waiter: { onAbort: (() => void) | null } = { onAbort: null }
  const left = expect(pool.use((one) => Promise.resolve(one), waiter)).rejects.toMatchObject({ kind: 'gone' })
  await Promise.resolve()
  waiter.onAbort?.()
  await left
  expect(waiter.onAbort).toBeNull()
  const next = pool.use((one) => Promise.resolve(one), waiter)
  releaseOne()
  expect([typeof (await held), typeof (await next), waiter.onAbort]).toEqual(['undefined', 'number', null])
  pool.close()
  ended.splice(0)
})
