import fc from 'fast-check'
import { applyPatch } from 'rfc6902'
import { describe, expect, it } from 'vitest'
import { diffLists } from '../../../../runtime/graphql/live/streams/list-diff.ts'
import { jsonPatch } from '../../../../runtime/graphql/live/streams/patch.ts'

const patchOf = (before: unknown, after: unknown, most = 100_000): any[] | null => {
  const text = jsonPatch(JSON.stringify({ data: before }), JSON.stringify({ data: after }), most)
  return text === null ? null : JSON.parse(text).extensions.patch
}
/** The library changes a document in place, and so not as a whole. */
const underData = ({ path, from, ...operation }: any): any => ({
  ...operation,
  path: `/data${path}`,
  ...(from !== undefined && { from: `/data${from}` }),
})
const edge = (id: number, title: string) => ({ node: { nodeId: `n${id}`, title } })

describe('a patch', () => {
  it('changes a row where it stands', () => {
    const patch = patchOf(
      { all: { edges: [edge(1, 'a'), edge(2, 'b')] } },
      { all: { edges: [edge(1, 'a'), edge(2, 'c')] } },
    )
    expect(patch).toEqual([{ op: 'replace', path: '/all/edges/1/node/title', value: 'c' }])
  })

  it('adds, removes and moves rows by their nodeId', () => {
    const before = [1, 2, 3, 4].map((id) => edge(id, `t${id}`))
    const after = [5, 4, 1, 2].map((id) => edge(id, `t${id}`))
    expect(patchOf({ edges: before }, { edges: after })).toEqual([
      { op: 'remove', path: '/edges/2' },
      { op: 'add', path: '/edges/0', value: edge(5, 't5') },
      { op: 'move', from: '/edges/3', path: '/edges/1' },
    ])
  })

  it('keeps digits, and names that pointers escape', () => {
    expect(jsonPatch('{"data":{"a/~":1}}', '{"data":{"a/~":9007199254740993.10}}', 1_000)).toBe(
      '{"extensions":{"patch":[{"op":"replace","path":"/a~1~0","value":9007199254740993.10}]}}',
    )
  })

  it('is not made where it would be longer than the answer, or where a name is of objects', () => {
    const answers = ['{"data":{"a":1}}', '{"data":{"a":2}}'] as const
    expect(jsonPatch(...answers, 16)).toBeNull()
    expect(jsonPatch(...answers, 100)).not.toBeNull()
    expect(jsonPatch('{"data":{"__proto__":1}}', '{"data":{"__proto__":2}}', 1_000)).toBeNull()
    const deep = `{"data":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    expect(jsonPatch(deep, deep.replace('[]', '[1]'), 1_000_000)).toBeNull()
  })

  it('is not made where that would hold the event loop', () => {
    const list = (count: number) => Array.from({ length: count }, (_, id) => edge(id, 'of a row'))
    expect(patchOf({ edges: list(5_000) }, { edges: [edge(-1, 'new'), ...list(5_000)] })).toHaveLength(1)
    expect(patchOf({ edges: list(1_100) }, { edges: list(1_100).reverse() })).toBeNull()
    const nested = (value: number) =>
      `{"data":${'{"a":'.repeat(300)}[${value},"${'x'.repeat(10_000)}"]${'}'.repeat(301)}`
    expect(jsonPatch(nested(1), nested(2), 100_000)).toBeNull()
  })

  const row = fc.record({
    nodeId: fc.constantFrom(...'abcdefgh'),
    v: fc.integer({ min: 0, max: 3 }),
    tags: fc.array(fc.nat(2)),
  })
  const rows = fc.array(row, { maxLength: 8 })
  const tree = fc.record({
    edges: rows.map((all) => all.map((node) => ({ cursor: node.v, node }))),
    list: rows,
    json: fc.jsonValue({ maxDepth: 3 }),
    'a/b~': fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  })
  const safe = tree.filter((value) => !JSON.stringify(value).includes('__proto__'))

  it('makes the new data of the old one', () => {
    fc.assert(
      fc.property(safe, safe, (before, after) => {
        const patch = patchOf(before, after)
        const made = JSON.parse(JSON.stringify({ data: before }))
        const rebased = (patch ?? []).map(underData)
        expect(applyPatch(made, rebased).filter((fault) => fault !== null)).toEqual([])
        expect(made.data).toEqual(JSON.parse(JSON.stringify(after)))
      }),
      { numRuns: 500 },
    )
  })

  it('is never longer than it may be', () => {
    fc.assert(
      fc.property(safe, safe, fc.nat(400), (before, after, most) => {
        const text = jsonPatch(JSON.stringify({ data: before }), JSON.stringify({ data: after }), most)
        expect(text?.length ?? 0).toBeLessThanOrEqual(most)
      }),
    )
  })

  it('moves no more items than have to be', () => {
    const ids = [...'abcdefgh']
    expect(diffLists(ids, [...ids.slice(1), 'a'])).toEqual([{ kind: 'move', from: 0, to: 7 }])
    expect(diffLists(ids, ['h', ...ids.slice(0, 7)])).toEqual([{ kind: 'move', from: 7, to: 0 }])
  })
})
