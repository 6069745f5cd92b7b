import type { EntityFacts } from '../../../../runtime/contract/manifest.ts'
import type { RoleVisibility } from '../../../../runtime/engine/view.ts'
import { nameObject } from '../../../catalog/catalog.ts'
import type { ApiChange } from './change.ts'

/** New tables, views and functions that none of the roles may use: they are in no schema. */
export function unusedObjects(
  before: readonly RoleVisibility[],
  after: readonly RoleVisibility[],
): readonly ApiChange[] {
  const [old, now] = [before[0]?.manifest, after[0]?.manifest]
  if (old === undefined || now === undefined) return []
  const entities = new Set(old.entities.map(({ id }) => id))
  const functions = new Set(old.functions.map(({ id }) => id))
  return [
    ...now.entities
      .filter((entity) => !entities.has(entity.id) && !after.some((role) => mayRead(role, entity)))
      .map(({ kind, schema, relation }) =>
        unused(nameObject(kind, schema, relation), 'none of these roles may read it'),
      ),
    ...now.functions
      .filter(
        ({ id, schema, execute }) =>
          !functions.has(id) && !after.some((role) => uses(role, schema) && role.can(execute)),
      )
      .map((fn) => unused(nameObject('function', fn.schema, fn.function), 'none of these roles may call it')),
  ]
}

const unused = (object: string, why: string): ApiChange => ({
  severity: 'addition',
  kind: 'UNUSED_OBJECT',
  description: `The ${object} is new, and ${why}.`,
})

const uses = ({ manifest, can }: RoleVisibility, schema: string): boolean =>
  manifest.schemas.some(({ name, usage }) => name === schema && can(usage))

const mayRead = (role: RoleVisibility, { schema, grants, columns }: EntityFacts): boolean =>
  uses(role, schema) && (role.can(grants.select) || columns.some((column) => role.can(column.grants.select)))
