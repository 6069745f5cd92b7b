import type { EntityAdditions } from '../../runtime/contract/manifest.ts'
import { isOn } from '../comments/additions.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'
import type { ServedSchema } from './scope.ts'

/** Enabled additions of a table (spec/graphql.md 17); its setting takes precedence over its schema's. */
export const tableAdditions = (relation: AnnotatedRelation, schema: ServedSchema): EntityAdditions =>
  Object.fromEntries(schema.switches.filter((name) => isOn(name, relation, schema)).map((name) => [name, true]))
