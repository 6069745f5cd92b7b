import { describe, expect, it } from 'vitest'
import type { CatalogPolicy } from '../../../compiler/catalog/catalog.ts'
import { foldedSql } from '../../../compiler/model/distributed.ts'

const policy = (name: string, given: Partial<CatalogPolicy>): CatalogPolicy => ({
  name,
  command: '*',
  permissive: true,
  everybody: true,
  using: null,
  check: null,
  ...given,
})

const own = policy('own', { using: '(a = 1)' })

describe('the statements that fold restrictive policies into the permissive ones', () => {
  it.each([
    [
      'both conditions of one for all commands',
      [own, policy('Odd "one"', { permissive: false, using: '(b = 2)', check: '(c = 3)' })],
      'alter policy "own" on "s"."t" using ((a = 1) and (b = 2)) with check ((a = 1) and (c = 3)); ' +
        'drop policy "Odd ""one""" on "s"."t";',
    ],
    [
      'its condition for each command',
      [
        policy('reads', { command: 'r', using: 'true' }),
        policy('adds', { command: 'a', check: '(a = 1)', everybody: false }),
        policy('narrow', { permissive: false, using: '(b = 2)' }),
      ],
      'alter policy "reads" on "s"."t" using (true and (b = 2)); ' +
        'alter policy "adds" on "s"."t" with check ((a = 1) and (b = 2)); drop policy "narrow" on "s"."t";',
    ],
    [
      'only where it holds',
      [
        policy('reads', { command: 'r', using: 'true' }),
        policy('removes', { command: 'd', using: '(a = 1)' }),
        policy('narrow', { permissive: false, command: 'd', using: '(b = 2)' }),
      ],
      'alter policy "removes" on "s"."t" using ((a = 1) and (b = 2)); drop policy "narrow" on "s"."t";',
    ],
  ])('demand %s', (_, policies, sql) => {
    expect(foldedSql({ schema: 's', name: 't' }, policies)).toBe(sql)
  })

  it.each([
    ['for some roles', { everybody: false }],
    ['for some of the commands of a permissive one', { command: 'w' }],
  ] as const)('are not made for one that is %s', (_, given) => {
    const policies = [own, policy('narrow', { permissive: false, using: '(b = 2)', ...given })]
    expect(foldedSql({ schema: 's', name: 't' }, policies)).toBeNull()
  })
})
