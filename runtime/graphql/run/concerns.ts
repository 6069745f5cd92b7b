import type { BoundStatement } from '../../contract/execution.ts'
import type { EntityFacts, Manifest, ObjectId, RelationFacts } from '../../contract/manifest.ts'
import { once } from '../../lib/caches.ts'
import { introspects } from '../operation/introspects.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'

/** Whether a request may concern some relations: its document, its variables, or the rows that its statements read. */
export type Concerns = (request: GraphqlRequest, statements: readonly BoundStatement[]) => boolean

/**
 * Returns what makes them of the relations that changed; no function returns or takes these. A request that concerns a relation contains its name, as part of its types and root fields, or the name of a field that leads to it;
 * a node id leads to a statement that contains its name in SQL. Names within other words are found, too: such a request waits for a
 * newer schema without need.
 */
export function createConcerns({ entities }: Manifest): (relations: readonly ObjectId[]) => Concerns {
  const wordsOf = once(() => wordsByRelation(entities))
  return (relations) => {
    const words = new Set(relations.flatMap((relation) => [...(wordsOf().get(relation) ?? [])]))
    const isServed = relations.every((relation) => wordsOf().has(relation))
    return concernsOf([...words], isServed)
  }
}

/** Of each relation that is served its names, and the fields that lead to it, in lower case. */
function wordsByRelation(entities: readonly EntityFacts[]): ReadonlyMap<ObjectId, ReadonlySet<string>> {
  const words = new Map(entities.map(({ id, name, relation }) => [id, new Set([name, relation].map(lower))]))
  const note = (field: string, { target, way }: RelationFacts): void => {
    for (const id of [target, ...(way?.through ?? []).map(({ entity }) => entity)]) words.get(id)?.add(lower(field))
  }
  for (const { relations, unions = [] } of entities) {
    for (const relation of relations) note(relation.field, relation)
    for (const { field, of } of unions) for (const relation of of) note(field, relation)
  }
  return words
}

const lower = (name: string): string => name.toLowerCase()

const concernsOf =
  (words: readonly string[], isServed: boolean): Concerns =>
  ({ query, variables, unread, live }, statements) => {
    if (query === null || unread !== undefined || live === true || introspects(query)) return true
    const text = [query, JSON.stringify(variables, withoutBigints), ...statements.map((one) => one.text)]
      .join('\n')
      .toLowerCase()
    return !isServed || words.some((word) => text.includes(word))
  }

/** JSON cannot hold them, and no name is a number. */
const withoutBigints = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? null : value)
