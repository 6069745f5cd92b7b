import type { Diagnostic } from '../../runtime/contract/manifest.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import type { NamedRelation } from './named-relations.ts'
import { columnField, isValidName } from './names.ts'

/**
 * The field of the node id: `Node.nodeId` is this field even if a column has its name (spec/graphql.md, decision 15).
 */
export const nodeIdField = 'nodeId'

/**
 * The name of a column's field, valid or not; null if it would be that of the node id and the spelling of the database
 * does not help: the same name, an invalid one, or that of another column's field.
 */
export function fieldOfColumn(
  { relation, schema }: Pick<NamedRelation, 'relation' | 'schema'>,
  column: Named,
): string | null {
  const wanted = (one: Named): string => columnField(one.settings.name, one.name, schema.inflects)
  const name = wanted(column)
  if (name !== nodeIdField) return name
  const isFree = column.name !== nodeIdField && relation.columns.every((other) => wanted(other) !== column.name)
  return isFree && isValidName(column.name) ? column.name : null
}

type Named = NamedRelation['relation']['columns'][number]

/** @param instead the consequence for the object, as a clause */
export const nodeIdDiagnostic = (object: string, instead: string): Diagnostic =>
  diagnose('node-id-kept', object, { instead })
