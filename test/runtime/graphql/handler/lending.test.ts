import { expect, it } from 'vitest'
import { createLending } from '../../../../runtime/graphql/handler/lending.ts'

const ended: number[] = []
let made = 0
const open = (keeps: boolean) =>
  createLending<number>({
    make: () => Promise.resolve((made += 1)),
    end: (one) => ended.push(one),
    isGood: (one) => one !== 2,
    most: 1,
    waiting: 1,
    keeps,
  })

it('the lender refuses at once a caller that would wait behind too many, and serves the others in their order', async () => {
  const lending = open(true)
  let giveBack = (): void => undefined
  const held = lending.lend((one) => new Promise<number>((resolve) => (giveBack = () => resolve(one))))
  const second = lending.lend((one) => Promise.resolve(one))
  await expect(lending.lend((one) => Promise.resolve(one))).rejects.toMatchObject({ kind: 'overloaded' })
  giveBack()
  expect([await held, await second]).toEqual([1, 1])
  expect(await lending.lend((one) => Promise.resolve(one))).toBe(1)
  lending.close()
  expect(ended.splice(0)).toEqual([1])
})

it('the lender ends what failed, what is not good any more, and what is not kept', async () => {
  const lending = open(true)
  // The second one that is made is not good.
  expect(await lending.lend((one) => Promise.resolve(one))).toBe(2)
  expect(ended.splice(0)).toEqual([2])
  await expect(lending.lend(() => Promise.reject(new Error('it failed')))).rejects.toThrow('it failed')
  expect(ended.splice(0)).toEqual([3])
  expect(await open(false).lend((one) => Promise.resolve(one))).toBe(4)
  expect(ended.splice(0)).toEqual([4])
})

it('the lender ends connections that are kept beside one that ended on its own, and lets nobody wait where none are kept', async () => {
  const lost = new Set<number>()
  const gone: number[] = []
  let count = 0
  const lendingOf = (keeps: boolean) =>
    createLending<number>({
      make: () => Promise.resolve((count += 1)),
      end: (one) => gone.push(one),
      isGood: (one) => !lost.has(one),
      most: 2,
      waiting: 0,
      keeps,
    })
  const kept = lendingOf(true)
  await Promise.all([kept.lend((one) => Promise.resolve(one)), kept.lend((one) => Promise.resolve(one))])
  expect(gone).toEqual([])
  await kept.lend((one) => Promise.resolve(void lost.add(one)))
  expect(gone).toEqual([1, 2])
  const unkept = lendingOf(false)
  expect(await Promise.all([3, 4, 5].map(() => unkept.lend((one) => Promise.resolve(one))))).toEqual([3, 4, 5])
})

it('the lender forgets a caller that leaves while waiting, so that another one may wait', async () => {
  const lending = open(true)
  let giveBack = (): void => undefined
  const held = lending.lend(() => new Promise<void>((resolve) => (giveBack = resolve)))
  const waiter: { onAbort: (() => void) | null } = { onAbort: null }
  const left = expect(lending.lend((one) => Promise.resolve(one), waiter)).rejects.toMatchObject({ kind: 'gone' })
  await Promise.resolve()
  waiter.onAbort?.()
  await left
  expect(waiter.onAbort).toBeNull()
  const next = lending.lend((one) => Promise.resolve(one), waiter)
  giveBack()
  expect([typeof (await held), typeof (await next), waiter.onAbort]).toEqual(['undefined', 'number', null])
  lending.close()
  ended.splice(0)
})
