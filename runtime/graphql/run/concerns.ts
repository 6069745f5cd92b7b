import type { BoundStatement } from '../../contract/execution.ts'
import type { EntityFacts, Manifest, ObjectId, RelationFacts } from '../../contract/manifest.ts'
import { introspects } from '../operation/introspects.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'

/** Whether a request may concern some relations: its document, its variables, or the rows that its statements read. */
export type Concerns = (request: GraphqlRequest, statements: readonly BoundStatement[]) => boolean

/**
 * A request that concerns a relation contains its name, as part of its types and root fields, or the name of a field that leads to it;
 * a node id leads to a statement that contains its name in SQL. Names within other words are found, too: such a request waits for a
 * newer schema without need.
 * @param relations that no function returns or takes
 */
export function concernsOf({ entities }: Manifest, relations: readonly ObjectId[]): Concerns {
  const changed = new Set(relations)
  const leads = ({ target, way }: RelationFacts): boolean =>
    changed.has(target) || way?.through.some(({ entity }) => changed.has(entity)) === true
  const fieldsTo = ({ relations: own, unions = [] }: EntityFacts): readonly string[] => [
    ...own.filter(leads).map(({ field }) => field),
    ...unions.filter(({ of }) => of.some(leads)).map(({ field }) => field),
  ]
  const found = entities.filter(({ id }) => changed.has(id))
  const names = [...found.flatMap(({ name, relation }) => [name, relation]), ...entities.flatMap(fieldsTo)]
  const words = [...new Set(names.map((name) => name.toLowerCase()))]
  return ({ query, variables, unread, live }, statements) => {
    if (query === null || unread !== undefined || live === true || introspects(query)) return true
    const text = [query, JSON.stringify(variables, withoutBigints), ...statements.map((one) => one.text)]
      .join('\n')
      .toLowerCase()
    return found.length < changed.size || words.some((word) => text.includes(word))
  }
}

/** JSON cannot hold them, and no name is a number. */
const withoutBigints = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? null : value)
