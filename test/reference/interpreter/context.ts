import type { FieldNode, SelectionSetNode } from 'graphql'
import type { Api } from './api-types.ts'
import type { Surroundings } from './related.ts'
import type { Scope } from './selection.ts'
import { Unknown } from './sample.ts'
import { visibleRows, type Store } from './store.ts'
import type { Json, Question, World } from './world.ts'

/** What every part of the interpreter is handed. */
export interface Context {
  readonly world: World
  readonly api: Api
  readonly scope: Scope
  readonly claims: Question['claims']
  readonly unordered: Set<Json>
  /** SQLSTATEs of what may be refused on the way to an answer, by the order in which rows are changed. */
  readonly meanwhile: Set<string>
}

/** What filters look at; without a store, when they are only read, nothing. */
export const surroundingsOf = ({ world, api, claims }: Context, store: Store | null): Surroundings => ({
  world,
  api,
  reach: (table) => {
    if (store === null) return []
    if (table.sketch.sampled === true) throw new Unknown(table.type)
    return visibleRows(store, table.sketch, claims)
  },
})

/** The fields of one response key. */
export type Nodes = readonly [FieldNode, ...FieldNode[]]

export const selectionsOf = (nodes: Nodes): readonly (SelectionSetNode | undefined)[] =>
  nodes.map((node) => node.selectionSet)

/** Types of what a mutation answers, by what follows the table's name. */
export const responses = { insert: 'InsertResponse', update: 'UpdateResponse', delete: 'DeleteResponse' } as const
