import type { FieldNode, SelectionSetNode } from 'graphql'
import type { Api } from './api-types.ts'
import type { Surroundings } from './related.ts'
import type { Scope } from './selection.ts'
import { Unknown } from './sample.ts'
import { visibleRows, type Store } from './store.ts'
import type { Json, Question, World } from './world.ts'

/** The context of every part of the interpreter. */
export interface Context {
  readonly world: World
  readonly api: Api
  readonly scope: Scope
  readonly claims: Question['claims']
  readonly unordered: Set<Json>
  /** SQLSTATEs of possible refusals on the way to an answer, which depend on the order of changes. */
  readonly meanwhile: Set<string>
}

/** The rows for filters; empty without a store, when they are only read. */
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

/** Types of mutation answers, by the suffix of the table's name. */
export const responses = { insert: 'InsertResponse', update: 'UpdateResponse', delete: 'DeleteResponse' } as const
