import { selectionsOf, type Context, type Nodes } from './context.ts'
import { collectFields } from './selection.ts'
import type { Json } from './world.ts'

/** Answers an object: each response key by the result of `resolve` for its field. */
export function object(
  context: Context,
  type: string,
  nodes: Nodes,
  resolve: (name: string, nodes: Nodes) => Json,
): Json {
  const fields = [...collectFields(context.scope, type, selectionsOf(nodes))]
  return Object.fromEntries(
    fields.map(([key, inner]) => {
      const name = inner[0].name.value
      return [key, name === '__typename' ? type : resolve(name, inner)]
    }),
  )
}
