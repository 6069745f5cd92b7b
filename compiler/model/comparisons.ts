import type { ColumnFacts } from '../../runtime/contract/manifest.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { AnnotatedColumn } from '../comments/annotated.ts'
import { lookThrough, type ValueAdditions } from './scalars.ts'
import type { ModelScope } from './scope.ts'

/** Types of pg_catalog whose values Postgres compares with each other without loss. */
const families: Readonly<Record<string, string>> = {
  int2: 'number',
  int4: 'number',
  int8: 'number',
  numeric: 'number',
  float4: 'float',
  float8: 'float',
  text: 'text',
  varchar: 'text',
}

/**
 * The comparable values of a column (spec/graphql.md 17.1): those of its type or family. Two collations order the same
 * texts differently, so that Postgres refuses to compare them.
 */
export function comparisonOf(
  scope: ModelScope,
  { type: oid, collation }: AnnotatedColumn,
  asked: ValueAdditions,
): Pick<ColumnFacts, 'comparison'> {
  const type = lookThrough(scope, oid, asked)
  return type === undefined ? {} : { comparison: collated(familyOf(type), collation) }
}

/**
 * The values that a column can be sorted with (spec/graphql.md 17.9): those that convert to its type without rounding
 * or truncation.
 */
export function sortingOf(
  scope: ModelScope,
  { type: oid, collation, modifier }: AnnotatedColumn,
  asked: ValueAdditions,
): Pick<ColumnFacts, 'sorting'> {
  const type = lookThrough(scope, oid, asked)
  if (type === undefined) return {}
  const family = familyOf(type)
  const own = family === 'text' ? family : `${objectId(type.schema, type.name)}${modifier < 0 ? '' : ` ${modifier}`}`
  return { sorting: collated(own, collation) }
}

const familyOf = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
  schema === 'pg_catalog' ? (families[name] ?? name) : objectId(schema, name)

const collated = (text: string, collation: string | undefined): string =>
  collation === undefined ? text : `${text} collate ${collation}`
