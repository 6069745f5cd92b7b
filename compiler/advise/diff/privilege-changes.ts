import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { groupBy } from '../../../runtime/lib/steps.ts'
import { nameObject } from '../../catalog/diagnostics/object-name.ts'

/** Privileges of a role on served objects, in the terms of GRANT: `INSERT (title, body) ON TABLE public.posts`. */
export interface PrivilegeChanges {
  readonly gained: readonly string[]
  readonly lost: readonly string[]
}

/** Privileges that a role gained or lost; a schema does not show all of them. */
export function privilegeChanges(before: RoleVisibility, after: RoleVisibility): PrivilegeChanges {
  const [old, now] = [privilegesOf(before), privilegesOf(after)]
  return { gained: beyond(now, old), lost: beyond(old, now) }
}

interface Privilege {
  readonly name: string
  readonly on: string
  /** Null: on the whole object. */
  readonly column: string | null
}

function privilegesOf({ manifest, can }: RoleVisibility): readonly Privilege[] {
  const usable = manifest.schemas.filter(({ usage }) => can(usage)).map(({ name }) => name)
  const entities = manifest.entities.filter(({ schema }) => usable.includes(schema))
  const functions = [...manifest.functions, ...manifest.entities.flatMap(({ computed }) => computed)]
  return [
    ...usable.map((schema) => ({ name: 'USAGE', on: nameObject('SCHEMA', schema), column: null })),
    ...entities.flatMap((entity) => entityPrivileges(can, entity)),
    ...functions.flatMap((fn) =>
      usable.includes(fn.schema) && can(fn.execute)
        ? [{ name: 'EXECUTE', on: nameObject('FUNCTION', fn.schema, fn.function), column: null }]
        : [],
    ),
  ]
}

const ofTables = ['select', 'insert', 'update', 'delete'] as const
const ofColumns = ['select', 'insert', 'update'] as const

function entityPrivileges(
  can: RoleVisibility['can'],
  { schema, relation, grants, columns }: EntityFacts,
): readonly Privilege[] {
  const on = nameObject('TABLE', schema, relation)
  const privilege = (name: string, column: string | null): Privilege => ({ name: name.toUpperCase(), on, column })
  return [
    ...ofTables.filter((name) => can(grants[name])).map((name) => privilege(name, null)),
    ...ofColumns
      .filter((name) => !can(grants[name]))
      .flatMap((name) =>
        columns.filter((column) => can(column.grants[name])).map(({ column }) => privilege(name, column)),
      ),
  ]
}

/** Those that are not among the others, the columns of one privilege together. */
function beyond(all: readonly Privilege[], others: readonly Privilege[]): readonly string[] {
  const known = new Set(others.map((privilege) => JSON.stringify(privilege)))
  const rest = all.filter((privilege) => !known.has(JSON.stringify(privilege)))
  return [...groupBy(rest, ({ name, on, column }) => JSON.stringify([name, on, column === null]))].map(([, group]) => {
    const columns = group.flatMap(({ column }) => (column === null ? [] : [column]))
    return `${group[0]?.name}${columns.length === 0 ? '' : ` (${columns.join(', ')})`} ON ${group[0]?.on}`
  })
}
