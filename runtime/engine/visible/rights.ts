import type { EntityFacts, Grantee, Grantees, Manifest } from '../../contract/manifest.ts'
import { decidingFacts } from '../../contract/facts.ts'
import type { Memo } from '../../lib/memo/memo.ts'
import { atOnce } from '../../lib/steps.ts'

/** The privileges of a role in a manifest (spec/graphql.md 1.4). */
export interface Rights {
  /** The role, then those whose privileges it has, then `public`. */
  readonly names: readonly Grantee[]
  readonly can: (grantees: Grantees) => boolean
  /** Names of the schemas with USAGE. */
  readonly usable: ReadonlySet<string>
  /** Names of the schemas without USAGE, including those of types. */
  readonly closed: ReadonlySet<string>
  /** The relations that it may read, or some columns of them. */
  readonly readable: readonly boolean[]
  /** The relations without SELECT, but with INSERT. */
  readonly insertOnly: readonly EntityFacts[]
}

/** The same set for the same names, so that results that depend on it are kept. */
const usableSchemas = (...names: readonly string[]): ReadonlySet<string> => new Set(names)
const effectiveRoles = (...names: readonly string[]): ReadonlySet<string> => new Set(names)

const isGranted = (grantees: Grantees, superuser: boolean, effective: ReadonlySet<string>): boolean =>
  superuser || grantees.some((grantee) => effective.has(grantee))

function isReadable(
  { schema, grants, columns, softDelete }: EntityFacts,
  usable: ReadonlySet<string>,
  superuser: boolean,
  effective: ReadonlySet<string>,
): boolean {
  const selects = (grantees: Grantees): boolean => isGranted(grantees, superuser, effective)
  // Every read checks the marker of deleted rows (spec/graphql.md 17.5).
  const readable = softDelete == null ? columns : columns.filter(({ column }) => column === softDelete.column)
  return usable.has(schema) && (selects(grants.select) || readable.some((column) => selects(column.grants.select)))
}

function isInsertable(
  { schema, grants, columns }: EntityFacts,
  usable: ReadonlySet<string>,
  superuser: boolean,
  effective: ReadonlySet<string>,
): boolean {
  const inserts = (grantees: Grantees): boolean => isGranted(grantees, superuser, effective)
  return usable.has(schema) && (inserts(grants.insert) || columns.some((column) => inserts(column.grants.insert)))
}

/** @param memo of the role */
export function rightsOf(manifest: Manifest, role: string, memo: Memo): Rights {
  const { superuser, effective: roles } = decidingFacts(manifest, role)
  const effective = memo.one(effectiveRoles, ...roles)
  const can = (grantees: Grantees): boolean => isGranted(grantees, superuser, effective)
  const usable = memo.one(usableSchemas, ...manifest.schemas.filter(({ usage }) => can(usage)).map(({ name }) => name))
  const closed = new Set(
    [...manifest.schemas, ...(manifest.typeSchemas ?? [])].filter(({ usage }) => !can(usage)).map(({ name }) => name),
  )
  const readable = atOnce(memo.map(isReadable, manifest.entities, usable, superuser, effective))
  const insertable = atOnce(memo.map(isInsertable, manifest.entities, usable, superuser, effective))
  const insertOnly = manifest.entities.filter((_, place) => insertable[place] === true && readable[place] !== true)
  const others = roles.filter((name) => name !== role && name !== 'public')
  return { names: [role, ...others, 'public'], can, usable, closed, readable, insertOnly }
}
