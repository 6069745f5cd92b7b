import { objectId } from '../../runtime/contract/facts.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import type {
  Catalog,
  CatalogFunction,
  CatalogRelation,
  CatalogSchema,
  CatalogType,
  Oid,
} from '../../compiler/catalog/catalog.ts'

/** Fingerprints by object; a relation, type or function whose fingerprint is unchanged reads as it did before. */
export interface Fingerprints {
  /** Server version, roles, memberships, owner and schemas: what every object depends on. */
  readonly database: string
  /** By object id. */
  readonly relations: ReadonlyMap<string, string>
  /** By the type's printed name. */
  readonly types: ReadonlyMap<string, string>
  /** By object id and input types: `["public","add"](integer, integer)`. */
  readonly functions: ReadonlyMap<string, string>
}

/**
 * Hashes what the Catalog says about each object.
 *
 * OIDs and the schema version are left out: an object that was dropped and created again as it was, or restored into
 * another database, has the same fingerprint. Types count by their printed names, which are qualified and therefore
 * unique.
 */
export function fingerprints(catalog: Catalog): Fingerprints {
  const nameOf = typeNames(catalog)
  const { serverVersion, databaseOwner, readsClaims, leaves, roles, memberships } = catalog
  const schemas = catalog.schemas.map(withoutOid)
  return {
    database: hash({ serverVersion, databaseOwner, readsClaims, leaves, roles, memberships, schemas }),
    relations: new Map(
      catalog.relations.map((item) => [objectId(item.schema, item.name), hash(relationContent(item))]),
    ),
    types: new Map(catalog.types.map((item) => [item.text, hash(typeContent(item, nameOf))])),
    functions: new Map(catalog.functions.map((item) => [signature(item), hash(functionContent(item, nameOf))])),
  }
}

type NameOf = (type: Oid | null) => string | null

function typeNames(catalog: Catalog): NameOf {
  const names = new Map(catalog.types.map((type) => [type.oid, type.text]))
  return (type) => (type === null ? null : (names.get(type) ?? null))
}

const signature = (item: CatalogFunction): string =>
  `${objectId(item.schema, item.name)}(${item.args.map((arg) => arg.typeText).join(', ')})`

const withoutOid = (item: CatalogSchema): object => ({ ...item, oid: '' })

const relationContent = (item: CatalogRelation): object => ({
  ...item,
  oid: '',
  rowType: '',
  columns: item.columns.map((column) => ({ ...column, type: '' })),
  foreignKeys: item.foreignKeys.map((key) => ({ ...key, oid: '' })),
})

const typeContent = (item: CatalogType, nameOf: NameOf): object => ({
  ...item,
  oid: '',
  element: nameOf(item.element),
  base: nameOf(item.base),
  relation: item.relation === null ? null : { ...item.relation, oid: '' },
})

const functionContent = (item: CatalogFunction, nameOf: NameOf): object => ({
  ...item,
  oid: '',
  result: nameOf(item.result),
  args: item.args.map((arg) => ({ ...arg, type: '' })),
})

const hash = (content: object): string => sha256Hex(JSON.stringify(content))
