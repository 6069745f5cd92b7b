import { buildSchema, parse, validate } from 'graphql'
import { expect, it } from 'vitest'
import { firstQuery } from '../../../runtime/console/page/graphiql/first-query.ts'

it('the first query asks for some rows of the first collection', () => {
  const schema = buildSchema(`
    type Query { node(nodeId: ID!): Note, noteCollection(first: Int): NoteConnection }
    type NoteConnection { edges: [NoteEdge!]! }
    type NoteEdge { node: Note! }
    type Note { nodeId: ID!, id: Int, body: String, author: Note, size(unit: String): Int }`)
  const query = firstQuery(schema)
  expect(validate(schema, parse(query))).toEqual([])
  expect(query).toMatch(/noteCollection\(first: 5\).*id\s+body\s+}/s)
})

it('the first query asks for what is always there where a role sees no table', () => {
  expect(firstQuery(buildSchema('type Query { node: Int }'))).toContain('__typename')
})
