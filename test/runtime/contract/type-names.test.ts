import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EntityFacts, Manifest } from '../../../runtime/contract/manifest.ts'
import { partNames } from '../../../compiler/additions/table.ts'
import { createNames, namesForAll } from '../../../runtime/contract/type-names.ts'
import { createMemo } from '../../../runtime/lib/memo/memo.ts'
import { table } from '../../support/catalog-literal.ts'
import { build } from '../../compiler/model/build.ts'

const { suffixes } = partNames
const { manifest, entity } = build({ relations: [table('t')] })
const plain = entity('t')

interface Drawn {
  readonly name: string
  readonly keyed: boolean
  readonly orders: boolean
  readonly readable: boolean
  readonly insertable: boolean
}

const isInsertOnly = ({ readable, insertable }: Drawn): boolean => insertable && !readable

interface Owners {
  /** Whether the relation has its names. */
  readonly owns: readonly boolean[]
  /** Whether it has those of inserts alone. */
  readonly inserts: readonly boolean[]
}

/** Parts that are there whatever additions there are, and those that `orderByRelated` brings. */
const always = [
  'row',
  'connection',
  'edge',
  'filter',
  'orderBy',
  'insertInput',
  'updateInput',
  'insertResponse',
] as const
const more = ['updateResponse', 'deleteResponse', 'aggregate', 'sum', 'avg', 'min', 'max'] as const
const typesOf = (name: string, withOrders: boolean): readonly string[] =>
  [...always, ...more, ...(withOrders ? (['relationOrderBy'] as const) : [])].map((part) => `${name}${suffixes[part]}`)

const reserved = ['Int', 'IntFilter', 'IntListFilter', 'Query', 'Node', 'PageInfo']

/** A relation has its names where no earlier one has them; those with a key come first, those of inserts alone last. */
function ownersOf(drawn: readonly Drawn[]): Owners {
  const withOrders = drawn.some(({ orders }) => orders)
  const taken = new Set(reserved)
  const owns = drawn.map(() => false)
  for (const keyed of [true, false])
    for (const [place, one] of drawn.entries()) {
      const types = typesOf(one.name, withOrders)
      // A relation does not own a name with which one of its types would have a reserved name.
      const isReserved = Object.values(suffixes).some((suffix) => reserved.includes(one.name + suffix))
      if (!one.readable || one.keyed !== keyed || isReserved || types.some((type) => taken.has(type))) continue
      owns[place] = true
      for (const type of types) taken.add(type)
    }
  const inserts = drawn.map((one) => {
    const types = [`${one.name}InsertInput`, `${one.name}InsertResponse`]
    const isFree = isInsertOnly(one) && one.keyed && ![one.name, ...types].some((type) => taken.has(type))
    for (const type of isFree ? types : []) taken.add(type)
    return isFree
  })
  return { owns, inserts }
}

const endings = [
  '',
  'Edge',
  'Connection',
  'Relation',
  'Filter',
  'OrderBy',
  'RelationOrderBy',
  'SumAggregateResult',
  'Sum',
]
const name = fc
  .tuple(fc.constantFrom('Post', 'User', 'Int', 'Query'), fc.array(fc.constantFrom(...endings), { maxLength: 2 }))
  .map(([base, added]) => `${base}${added.join('')}`)
const drawn = fc.array(
  fc.record({
    name,
    keyed: fc.boolean(),
    orders: fc.boolean(),
    readable: fc.boolean(),
    insertable: fc.boolean(),
  }) satisfies fc.Arbitrary<Drawn>,
  { maxLength: 12 },
)

const entityOf = ({ name, keyed, orders }: Drawn, place: number): EntityFacts => ({
  ...plain,
  id: `["public","${place}"]`,
  name,
  key: keyed ? plain.key : [],
  ...(orders && { orderByRelated: true }),
})

describe('names of relations', () => {
  it('are of the first that wants them, whatever was known before', () => {
    expect(plain.key).not.toEqual([])
    fc.assert(
      fc.property(fc.array(drawn, { minLength: 1, maxLength: 4 }), fc.nat(60), (lists, ahead) => {
        const memory = { shared: createMemo(), own: createMemo() }
        // Common members of two lists are the same objects, as from one manifest to the next.
        const kept = new Map<string, EntityFacts>()
        for (const list of lists) {
          const entities = list.map((one, place) => {
            const key = JSON.stringify([one.name, one.keyed, one.orders, place])
            const facts = kept.get(key) ?? entityOf(one, place)
            kept.set(key, facts)
            return facts
          })
          const now: Manifest = { ...manifest, enums: [], entities }
          // Another search runs in steps at the same time, and has reached any of these.
          const steps = namesForAll(now, partNames, memory.shared)
          for (let step = 0; step < ahead; step += 1) steps.next()
          const names = createNames(
            now,
            {
              readable: list.map(({ readable }) => readable),
              insertOnly: list.flatMap((one, place) => (isInsertOnly(one) ? entities.slice(place, place + 1) : [])),
            },
            partNames,
            memory,
          )
          const { owns, inserts } = ownersOf(list)
          expect(entities.map(names.owns)).toEqual(owns)
          expect(names.exposed).toEqual(entities.filter(({ key }, place) => owns[place] === true && key.length > 0))
          expect(names.insertOnly).toEqual(entities.filter((_, place) => inserts[place]))
          expect(names.nameless()).toEqual(entities.filter((_, place) => owns[place] !== true))
        }
      }),
      { numRuns: 300 },
    )
  })
  it('are found in steps by their number, and then are known in as many for few as for many', () => {
    const stepsFor = (count: number): readonly [first: number, again: number] => {
      const entities = Array.from({ length: count }, (_, place) =>
        entityOf({ name: `Post${place}`, keyed: true, orders: false, readable: true, insertable: true }, place),
      )
      const memo = createMemo()
      const steps = (): number => [...namesForAll({ ...manifest, entities }, partNames, memo)].length
      return [steps(), steps()]
    }
    const [many, few] = [stepsFor(200), stepsFor(2)]
    expect(many[0]).toBeGreaterThan(3 * 200)
    expect(many[1]).toBe(few[1])
  })
})
