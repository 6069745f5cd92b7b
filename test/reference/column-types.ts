import { ident } from '../../runtime/sql/ident.ts'
import type { Oid } from '../../compiler/catalog/catalog.ts'
import type { AnnotatedColumn, AnnotatedType } from '../../compiler/comments/annotated.ts'
import { isGeoType } from '../../compiler/additions/geo/facts.ts'
import type { BaseType, ColumnType } from './interpreter/world.ts'

/** The lookup of types. */
export interface Types {
  readonly types: ReadonlyMap<Oid, AnnotatedType>
  readonly schema: string
  /** Whether domains are served as their base types (spec/graphql.md 17). */
  readonly domains: boolean
  /** Whether values of PostGIS are served as GeoJSON. */
  readonly geo: boolean
}

/** The order of a column's values: by bytes, by a collation, or unknown from their texts. */
export type Collation =
  | { readonly kind: 'bytes' }
  | { readonly kind: 'named'; readonly sql: string }
  | { readonly kind: 'blurred' }

/** A column as the interpreter knows it, and the SQL that reads a cell in its canonical form. */
export interface KnownColumn {
  readonly type: ColumnType
  readonly cell: string
  /** Its type in SQL. */
  readonly sql: string
}

/** Schemas on which a role needs USAGE to see a column of the type (spec/graphql.md 1.4). */
export function homesOf(types: Types, oid: Oid): readonly string[] {
  const found = types.types.get(oid)
  if (found === undefined) return []
  if (found.element !== null) return homesOf(types, found.element)
  const under = found.kind === 'd' && types.domains && found.base !== null ? homesOf(types, found.base) : []
  return [found.schema, ...under]
}

/** Types of pg_catalog by name; others are answered as to_jsonb prints them and never filtered. */
const bases: Readonly<Record<string, BaseType>> = {
  int2: 'int2',
  int4: 'int4',
  int8: 'int8',
  float8: 'float8',
  numeric: 'numeric',
  text: 'text',
  varchar: 'text',
  bool: 'bool',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  uuid: 'uuid',
  jsonb: 'jsonb',
  bytea: 'bytea',
}

const plain = (base: BaseType): ColumnType => ({ base, list: false, enum: null })

/** Null if the interpreter does not know the answers of the type. */
export function knownColumn(types: Types, column: AnnotatedColumn, collation: Collation): KnownColumn | null {
  const type = typeOf(types, column.type, column.modifier, collation)
  const { collation: collated } = column
  return type === null
    ? null
    : {
        type: type.base === 'text' && collated !== undefined ? { ...type, collated } : type,
        cell: cellOf(types, type, column),
        sql: column.typeText,
      }
}

function typeOf(types: Types, oid: Oid, modifier: number, collation: Collation): ColumnType | null {
  const found = types.types.get(oid)
  if (found === undefined) return null
  if (found.kind === 'd') return domainType(types, found, collation)
  if (found.kind === 'e') return enumType(types, found)
  if (found.kind === 'c') return null
  if (found.element !== null) return listType(typeOf(types, found.element, modifier, collation))
  const base = found.schema === 'pg_catalog' ? bases[found.name] : undefined
  if (base === undefined) return types.geo && isGeoType(found) ? { ...plain('other'), json: true } : plain('other')
  return modified(base, modifier, collation)
}

/** The answers of elements are only known for types of the interpreter. */
const listType = (element: ColumnType | null): ColumnType | null => {
  if (element === null || element.base === 'other' || element.base === 'jsonb') return null
  const { collation: _, ...rest } = element
  // Arrays are compared for equality only.
  return { ...rest, list: true }
}

/** The modifier of a domain's base type is not in the catalogue, so only types without one are supported. */
function domainType(types: Types, { base }: AnnotatedType, collation: Collation): ColumnType | null {
  const under = base === null ? null : typeOf(types, base, -1, collation)
  if (under === null) return null
  if (!types.domains) return under.list ? null : plain('other')
  return types.types.get(base ?? '')?.name === 'varchar' || under.base === 'numeric' ? null : under
}

function enumType({ schema }: Types, found: AnnotatedType): ColumnType {
  return found.schema === schema ? { ...plain('enum'), enum: found.name } : plain('other')
}

/**
 * Operands are cast to the exact type of the column (spec/graphql.md 3.4): if that would round drawn values, none are
 * drawn.
 */
function modified(base: BaseType, modifier: number, collation: Collation): ColumnType {
  switch (base) {
    case 'text': {
      const length = modifier < 0 ? {} : { length: modifier - 4 }
      if (collation.kind === 'blurred') return plain('other')
      return { ...plain(base), ...length, ...(collation.kind === 'named' && { collation: collation.sql }) }
    }
    case 'numeric': {
      if (modifier < 0) return plain(base)
      const [precision, scale] = [((modifier - 4) >> 16) & 0xffff, (modifier - 4) & 0x7ff]
      return scale < precision ? { ...plain(base), scale } : plain('other')
    }
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return modifier < 0 || modifier >= 3 ? plain(base) : plain('other')
    case 'bool':
    case 'bytea':
    case 'composite':
    case 'date':
    case 'enum':
    case 'float8':
    case 'geometry':
    case 'inet':
    case 'int2':
    case 'int4':
    case 'int4multirange':
    case 'int4range':
    case 'int8':
    case 'jsonb':
    case 'ltree':
    case 'numeric(8,2)':
    case 'other':
    case 'tsvector':
    case 'uuid':
    case 'varchar(5)':
      return plain(base)
  }
}

const asText: ReadonlySet<BaseType> = new Set(['int8', 'jsonb', 'numeric'])

function cellOf(types: Types, type: ColumnType, { name, type: oid }: AnnotatedColumn): string {
  const column = ident(name)
  if (asText.has(type.base)) return `${column}::text${type.list ? '[]' : ''}`
  const served = servedType(types, types.types.get(oid))
  // JSON is answered as text, and a string in it without its quotes (spec/graphql.md 3.3).
  if (served?.schema === 'pg_catalog' && /^jsonb?$/.test(served.name)) return `${column} #>> '{}'`
  if (type.json === true) return `${ident(served?.schema ?? '')}.st_asgeojson(${column}, 40)`
  return type.base === 'other' ? `to_jsonb(${column})` : column
}

/** The base type of a domain, if domains are served so. */
const servedType = (types: Types, type: AnnotatedType | undefined): AnnotatedType | undefined =>
  types.domains && type?.kind === 'd' ? servedType(types, types.types.get(type.base ?? '')) : type
