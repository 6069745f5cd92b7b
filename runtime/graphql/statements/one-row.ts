import { bare } from '../../sql/ident.ts'
import { built, isBuilt } from '../../sql/json.ts'
import { select, type Select } from '../../sql/tree.ts'
import type { Plan, Root, RowMember } from '../plan/plan-nodes.ts'
import { ofDeleted } from './deleted.ts'
import { keyEquals } from './filter.ts'
import { ofKeyed } from './keyed.ts'
import { firstOf, rowPairs } from './rows.ts'
import { readFor, relationOf, type Writer } from './source.ts'

/**
 * A row of a distributed table by its key. Citus plans a statement once for all its values if it reads one table, names
 * the tenant once and has no sub-select (its fast path); it plans every other statement on each run.
 */

type ByKey = Extract<Root, { kind: 'by-key' }>

/** SQL names of the columns whose values are given. */
export const lookedUpBy = ({ by, row }: ByKey): readonly string[] => by?.columns ?? row.entity.key

/** Members that are written without a sub-select. */
const isPlain = ({ kind }: RowMember): boolean => kind === 'column' || kind === 'typename' || kind === 'node-id'

/** The only database field of a document; null if there are several, or if it is not such a row. */
export function oneRowOf({ engine }: Writer, { roots }: Plan): ByKey | null {
  const [root, ...others] = roots.filter(({ kind }) => kind !== 'constant')
  if (engine.manifest.distributed === undefined || root?.kind !== 'by-key' || others.length > 0) return null
  const { entity, members } = root.row
  const namesTenant = entity.tenant !== undefined && lookedUpBy(root).includes(entity.tenant.column)
  return namesTenant && isBuilt(members) && members.every(isPlain) ? root : null
}

/** The row as a column of type json; no row if it does not exist. Policies apply on the row's server. */
export function selectRow(writer: Writer, root: ByKey): Select {
  const { row, values } = root
  const scope = readFor(writer, row.entity, row)
  return select([{ value: built(rowPairs(writer, row, scope)), as: bare('r', 1) }], {
    from: [{ of: relationOf(scope.builder), alias: scope.alias }],
    where: [
      keyEquals(lookedUpBy(root), values)(scope),
      ...ofKeyed(scope, lookedUpBy(root)),
      ...ofDeleted(scope, root.deleted),
    ],
    ...firstOf(root.by ?? row.entity),
  })
}
