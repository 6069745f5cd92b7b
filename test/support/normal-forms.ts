import type { Catalog, CatalogRelation } from '../../compiler/catalog/catalog.ts'
import type { Model } from '../../compiler/model/model.ts'

/**
 * Values of stages without what differs from one database to the next though the schema is the same: object ids,
 * versions, and roles that other tests made on the same server or that come with Postgres.
 */

const knownRoles: ReadonlySet<string> = new Set(['anon', 'authenticated', 'service_role', 'authenticator', 'postgres'])

/** The catalogue with the names of types in the place of their ids. */
export function normalCatalog(catalog: Catalog): unknown {
  const names = new Map(catalog.types.map((type) => [type.oid, type.text]))
  const { version: _version, serverVersion: _serverVersion, ...rest } = catalog
  return withoutIds(
    {
      ...rest,
      ...(catalog.selfContained && { selfContained: namesOf(catalog, catalog.selfContained) }),
      relations: catalog.relations.map((relation) => withKeysWhereUsed(catalog, relation)),
      // The comments of Postgres' own types are reworded now and then.
      types: catalog.types.map(({ attributes, ...type }) => ({
        ...type,
        ...(attributes.length > 0 && { attributes }),
        ...(type.schema === 'pg_catalog' && { comment: null }),
      })),
      roles: catalog.roles.filter(({ name }) => knownRoles.has(name)),
      memberships: catalog.memberships.filter(({ member, group }) => knownRoles.has(member) && knownRoles.has(group)),
    },
    names,
  )
}

const namesOf = ({ relations }: Catalog, oids: readonly string[]): readonly string[] =>
  relations.filter(({ oid }) => oids.includes(oid)).map(({ name }) => name)

/** Unique keys by name are of use to `upsert` alone. */
function withKeysWhereUsed(catalog: Catalog, { uniqueKeys, ...relation }: CatalogRelation): object {
  const comments = [relation.comment, catalog.schemas.find(({ name }) => name === relation.schema)?.comment]
  return comments.some((comment) => comment?.includes('upsert') === true) ? { ...relation, uniqueKeys } : relation
}

const references: ReadonlySet<string> = new Set(['type', 'element', 'base', 'result', 'rowType'])

function withoutIds(value: unknown, names: ReadonlyMap<string, string>): unknown {
  // MAINTAIN is a privilege since PostgreSQL 17 and means nothing to the API.
  if (Array.isArray(value)) return value.filter((item) => item !== 'MAINTAIN').map((item) => withoutIds(item, names))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => key !== 'oid')
  return Object.fromEntries(
    entries.map(([key, item]) => [
      key,
      references.has(key) && typeof item === 'string' ? (names.get(item) ?? 'not read') : withoutIds(item, names),
    ]),
  )
}

export function normalModel(model: Model): unknown {
  const roles = Object.entries(model.manifest.roles).filter(([name]) => knownRoles.has(name))
  return { ...model, manifest: { ...model.manifest, roles: Object.fromEntries(roles) } }
}
