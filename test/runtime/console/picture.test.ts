import fc from 'fast-check'
import { buildSchema, introspectionFromSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { filterGraph, readGraph, type Graph } from '../../../runtime/console/page/picture/graph.ts'
import { boxWidth, layOut, type Box } from '../../../runtime/console/page/picture/layout.ts'

describe('the picture of a schema', () => {
  it('shows row types, and each foreign key once, at the side that refers', () => {
    const schema = buildSchema(`
      interface Node { nodeId: ID! }
      type Author implements Node { nodeId: ID! postCollection: PostConnection best: Post }
      type Post implements Node { nodeId: ID! author: Author tags: [Tag!] }
      type Tag implements Node { nodeId: ID! similarCollection: TagConnection }
      type PostConnection { edges: [PostEdge!]! }
      type PostEdge { node: Post }
      type TagConnection { edges: [TagEdge!]! }
      type TagEdge { node: Tag }
      type Query { node: Node }
    `)
    const graph = readGraph(introspectionFromSchema(schema))
    expect(graph.types.map(({ name }) => name)).toEqual(['Author', 'Post', 'Tag'])
    expect(graph.types[0]?.fields[1]).toEqual({ name: 'postCollection', type: 'PostConnection' })
    expect(graph.relations).toEqual([
      { from: 'Author', field: 'best', to: 'Post', many: false },
      { from: 'Post', field: 'author', to: 'Author', many: false },
      { from: 'Post', field: 'tags', to: 'Tag', many: true },
      { from: 'Tag', field: 'similarCollection', to: 'Tag', many: true },
    ])
  })

  it('is narrowed to types of a name, alone or with those that they are related to', () => {
    const type = (name: string) => ({ name, fields: [] })
    const relation = (from: string, to: string) => ({ from, field: to, to, many: false })
    const graph: Graph = {
      types: ['Author', 'Post', 'PostTag', 'Tag', 'City'].map(type),
      relations: [
        relation('Post', 'Author'),
        relation('PostTag', 'Post'),
        relation('PostTag', 'Tag'),
        relation('Author', 'City'),
      ],
    }
    const alone = filterGraph(graph, ' POST ', false)
    expect(alone).toEqual({ types: ['Post', 'PostTag'].map(type), relations: [relation('PostTag', 'Post')] })
    const near = filterGraph(graph, 'post', true)
    expect(near.types).toEqual(['Author', 'Post', 'PostTag', 'Tag'].map(type))
    expect(near.relations).toEqual(graph.relations.slice(0, 3))
    expect(filterGraph(graph, ' ', false)).toBe(graph)
    expect(filterGraph(graph, 'nothing', true)).toEqual({ types: [], relations: [] })
  })

  it('has any of them, circles included: every type once, no two on one spot, every relation drawn', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const { boxes, lines, width, height } = layOut(graph)
        expect(boxes.map(({ type }) => type.name).sort()).toEqual(graph.types.map(({ name }) => name).sort())
        expect(lines).toHaveLength(graph.relations.length)
        expect(boxes.every((box) => boxes.every((other) => box === other || !overlap(box, other)))).toBe(true)
        expect(boxes.every(({ x, y, height: own }) => x + boxWidth <= width && y + own <= height)).toBe(true)
        const shown = new Map(boxes.map(({ type, fields }) => [type.name, fields.map(({ name }) => name)]))
        const has = (name: string, field: string): boolean =>
          graph.types.some((type) => type.name === name && type.fields.some((one) => one.name === field))
        const leading = graph.relations.filter(({ from, field }) => has(from, field))
        const few = leading.filter(({ from }) => leading.filter((one) => one.from === from).length <= 16)
        expect(few.every(({ from, field }) => shown.get(from)?.includes(field))).toBe(true)
        expect(lines.every(({ path }) => /^M[\d. -]+C[\d. -]+$/.test(path))).toBe(true)
      }),
    )
  })

  it('puts what is referred to left of what refers to it, unless they go round', () => {
    const relations = [
      { from: 'C', field: 'b', to: 'B', many: false },
      { from: 'B', field: 'a', to: 'A', many: false },
    ]
    const types = ['C', 'B', 'A', 'Alone'].map((name) => ({ name, fields: [{ name: 'id', type: 'Int' }] }))
    const { boxes } = layOut({ types, relations })
    expect([...boxes].sort((a, b) => a.x - b.x).map(({ type }) => type.name)).toEqual(['A', 'B', 'C', 'Alone'])
  })
})

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + boxWidth && b.x < a.x + boxWidth && a.y < b.y + b.height && b.y < a.y + a.height

const fieldNames = Array.from({ length: 40 }, (_, index) => `f${index}`)

const graphs: fc.Arbitrary<Graph> = fc
  .uniqueArray(fc.stringMatching(/^[A-Z][a-z]{0,3}$/), { minLength: 1, maxLength: 60 })
  .chain((names) =>
    fc.record({
      types: fc.tuple(
        ...names.map((name) =>
          fc
            .shuffledSubarray(fieldNames)
            .map((fields) => ({ name, fields: fields.map((field) => ({ name: field, type: 'Int' })) })),
        ),
      ),
      relations: fc.array(
        fc.record({
          from: fc.constantFrom(...names),
          field: fc.constantFrom(...fieldNames),
          to: fc.constantFrom(...names),
          many: fc.boolean(),
        }),
        { maxLength: 80 },
      ),
    }),
  )
