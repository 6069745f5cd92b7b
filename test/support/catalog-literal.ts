import type {
  Catalog,
  CatalogColumn,
  CatalogForeignKey,
  CatalogFunction,
  CatalogGrant,
  CatalogRelation,
  CatalogSchema,
  CatalogType,
} from '../../compiler/catalog/catalog.ts'

/**
 * Hand-written Catalogs: an example says only what it is about. A type's oid is its name (`int4`, arrays `_int4`, a row
 * type `row:posts`, anything of another schema `schema.name`), so that examples read without numbers.
 */

const everybody: readonly CatalogGrant[] = [
  { grantee: 'public', privileges: ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'USAGE', 'EXECUTE'] },
]

const qualified = (schema: string, name: string): string => (schema === 'public' ? name : `${schema}.${name}`)

export const schema = (
  name: string,
  comment: string | null = null,
  over: Partial<CatalogSchema> = {},
): CatalogSchema => ({
  oid: name,
  name,
  comment,
  grants: everybody,
  ...over,
})

/** A column of the type with this oid; its number is given by the table. */
export const column = (name: string, type = 'int4', over: Partial<CatalogColumn> = {}): CatalogColumn => ({
  name,
  number: 0,
  type,
  modifier: -1,
  typeText: type,
  notNull: false,
  generated: false,
  identity: false,
  serial: false,
  hasDefault: false,
  comment: null,
  grants: [],
  ...over,
})

export const table = (
  name: string,
  columns: readonly CatalogColumn[] = [column('id', 'int4', { notNull: true })],
  over: Partial<CatalogRelation> = {},
): CatalogRelation => {
  const { primaryKey = columns.some((item) => item.name === 'id') ? ['id'] : null, uniques = [] } = over
  return {
    oid: name,
    schema: 'public',
    name,
    kind: 'r',
    owner: 'postgres',
    comment: null,
    rowSecurity: false,
    grants: everybody,
    rowType: `row:${qualified(over.schema ?? 'public', name)}`,
    columns: columns.map((item, index) => ({ ...item, number: index + 1 })),
    primaryKey,
    uniques,
    identifying: primaryKey === null ? uniques : [primaryKey, ...uniques],
    uniqueKeys: [],
    foreignKeys: [],
    ...over,
  }
}

export const view = (
  name: string,
  columns: readonly CatalogColumn[],
  over: Partial<CatalogRelation> = {},
): CatalogRelation => table(name, columns, { kind: 'v', primaryKey: null, ...over })

let constraints = 0

export const foreignKey = (
  columns: readonly string[],
  foreignRelation: string,
  over: Partial<CatalogForeignKey> = {},
): CatalogForeignKey => {
  constraints += 1
  return {
    oid: String(constraints),
    name: `${columns.join('_')}_fkey`,
    columns,
    foreignSchema: 'public',
    foreignRelation,
    foreignColumns: ['id'],
    guaranteed: true,
    comment: null,
    ...over,
  }
}

const type = (name: string, over: Partial<CatalogType>): CatalogType => ({
  oid: qualified(over.schema ?? 'public', name),
  schema: 'public',
  name,
  kind: 'b',
  text: name,
  element: null,
  delimiter: ',',
  base: null,
  relation: null,
  attributes: [],
  labels: [],
  comment: null,
  grants: everybody,
  ...over,
})

export const enumType = (
  name: string,
  labels: readonly string[],
  comment: string | null = null,
  over: Partial<CatalogType> = {},
): CatalogType => type(name, { kind: 'e', labels, comment, ...over })

export const domain = (name: string, base: string, over: Partial<CatalogType> = {}): CatalogType =>
  type(name, { kind: 'd', base, ...over })

/** Attributes are types by name. */
export const composite = (
  name: string,
  attributes: Readonly<Record<string, string>> = {},
  over: Partial<CatalogType> = {},
): CatalogType =>
  type(name, {
    kind: 'c',
    relation: { oid: name, schema: 'public', name, standAlone: true },
    attributes: Object.entries(attributes).map(([attribute, of]) => ({ name: attribute, type: of })),
    ...over,
  })

export const extensionType = (name: string, schemaName: string): CatalogType => type(name, { schema: schemaName })

export const arrayOf = (element: CatalogType): CatalogType => ({
  ...element,
  oid: `_${element.oid}`,
  name: `_${element.name}`,
  kind: 'b',
  text: `${element.text}[]`,
  element: element.oid,
  base: null,
  relation: null,
  labels: [],
  comment: null,
})

type Argument = CatalogFunction['args'][number]

export const argument = (name: string, argumentType = 'int4'): Argument => ({
  name,
  type: argumentType,
  typeText: argumentType,
})

export const fn = (
  name: string,
  args: readonly Argument[] = [],
  result = 'int4',
  over: Partial<CatalogFunction> = {},
): CatalogFunction => ({
  oid: `${name}(${args.map((item) => item.type).join()})`,
  schema: 'public',
  name,
  kind: 'f',
  volatility: 's',
  returnsSet: false,
  rows: over.returnsSet === true ? 1000 : 0,
  result,
  variadic: false,
  args,
  hasOutColumns: false,
  defaultCount: 0,
  defaults: null,
  comment: null,
  grants: everybody,
  ...over,
})

const baseNames = (
  'int2 int4 int8 float4 float8 numeric text varchar bpchar char bool date time timetz timestamp ' +
  'timestamptz uuid json jsonb interval bytea money name oid inet'
).split(' ')
const pseudoNames = ['void', 'record', 'trigger', 'event_trigger', 'anyelement', 'internal']

const builtIn = (name: string, over: Partial<CatalogType> = {}): CatalogType =>
  type(name, { oid: name, schema: 'pg_catalog', ...over })

const builtInTypes: readonly CatalogType[] = [
  ...[
    ...baseNames.map((name) => builtIn(name)),
    builtIn('int4range', { kind: 'r' }),
    builtIn('box', { delimiter: ';' }),
  ].flatMap((item) => [item, { ...arrayOf(item), delimiter: ',' }]),
  ...pseudoNames.map((name) => builtIn(name, { kind: 'p' })),
]

const rowType = (relation: CatalogRelation): CatalogType =>
  type(relation.name, {
    oid: relation.rowType,
    schema: relation.schema,
    kind: 'c',
    relation: { oid: relation.oid, schema: relation.schema, name: relation.name, standAlone: false },
  })

/** A Catalog of one schema `public`, unless others are given; row types and the types of pg_catalog are added. */
export const catalog = (over: Partial<Catalog> = {}): Catalog => {
  const rows = (over.relations ?? []).map(rowType)
  return {
    version: null,
    serverVersion: 180000,
    databaseOwner: 'postgres',
    readsClaims: false,
    schemas: [schema('public')],
    roles: [
      { name: 'anon', superuser: false, inherit: true, bypassRls: false },
      { name: 'postgres', superuser: true, inherit: true, bypassRls: true },
    ],
    memberships: [],
    relations: [],
    functions: [],
    ...over,
    types: [...builtInTypes, ...rows, ...rows.map(arrayOf), ...(over.types ?? [])],
  }
}
