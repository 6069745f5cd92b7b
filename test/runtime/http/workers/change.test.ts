import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EntityFacts, FunctionFacts, Manifest } from '../../../../runtime/contract/manifest.ts'
import type { Revision } from '../../../../runtime/contract/artifact.ts'
import {
  applyChange,
  changeBetween,
  changeFromTravel,
  changeToMessage,
  type RevisionChange,
} from '../../../../runtime/http/workers/change.ts'

/** Relations by their name, with something that may change. */
const entity = (name: string, order: number): EntityFacts =>
  ({ id: `["public","${name}"]`, name, columns: [{ name: 'a', order }] }) as unknown as EntityFacts

const revisionOf = (tables: Readonly<Record<string, number>>, more: Partial<Manifest>, serial: number): Revision => {
  const entities = Object.entries(tables).map(([name, order]) => entity(name, order))
  return {
    id: `r${serial}`,
    version: String(serial),
    manifest: { format: 1, schemas: [], functions: [], ...more, entities } as unknown as Manifest,
    entities: entities.map(({ id }, index) => ({ id, text: `text of ${id} ${Object.values(tables)[index]}` })),
    functions: `calls ${(more.functions ?? []).length}`,
  }
}

const anyTables = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat(2))
const anyMembers = fc.record(
  {
    geo: fc.constant(true as const),
    functions: fc.array(fc.record({ id: fc.constantFrom('f', 'g') })) as unknown as fc.Arbitrary<FunctionFacts[]>,
    limits: fc.record({ fields: fc.nat(3), rows: fc.constant(null) }),
  },
  { requiredKeys: [] },
)

/** As it arrives. */
const travelled = (change: RevisionChange): RevisionChange => changeFromTravel(changeToMessage(change))

describe('a change between revisions', () => {
  it('is one relation where one has changed', () => {
    const before = revisionOf({ a: 0, b: 0 }, {}, 1)
    const [first] = before.manifest.entities
    const now = revisionOf({ a: 0, b: 1 }, {}, 2)
    const entities = now.manifest.entities.map((one, index) => (index === 0 && first !== undefined ? first : one))
    const [text] = before.entities
    const modules = now.entities.map((one, index) => (index === 0 && text !== undefined ? text : one))
    const change = changeBetween(before, { ...now, manifest: { ...now.manifest, entities }, entities: modules })
    expect(change).toMatchObject({ manifest: {}, gone: [], functions: null })
    for (const splices of [change.entities, change.modules])
      expect(splices).toMatchObject([{ from: 1, to: 2, items: [{ id: '["public","b"]' }] }])
  })

  it('leads to what the other side has, along any way, and keeps what did not change the very same', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyTables, anyMembers), { minLength: 1, maxLength: 6 }), (states) => {
        let [sent, held]: (Revision | null)[] = [null, null]
        states.forEach(([tables, members], serial) => {
          const now = revisionOf(tables, members, serial)
          const kept = held
          held = applyChange(kept ?? null, travelled(changeBetween(sent ?? null, now)))
          sent = now
          expect(held).toEqual(now)
          for (const one of kept?.manifest.entities ?? []) {
            const same = held.manifest.entities.find(({ id }) => id === one.id)
            if (JSON.stringify(same) === JSON.stringify(one)) expect(same).toBe(one)
          }
        })
      }),
    )
  })
})
