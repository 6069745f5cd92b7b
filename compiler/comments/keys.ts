import { switchedOn, unlessDisabled } from './additions.ts'
import {
  scalarText,
  type Decoder,
  onlyTrue,
  optionalForeignKeys,
  optionalMap,
  optionalString,
  optionalStrings,
  pageSize,
} from './decoders.ts'

/**
 * Kinds of object whose comments are read; a relation is a table, view, materialized view or foreign table. `other`
 * covers objects without settings, domains among them; a setting on one is reported.
 */
export const objectKinds = [
  'schema',
  'relation',
  'column',
  'function',
  'enum',
  'composite',
  'foreign key',
  'other',
] as const

export type ObjectKind = (typeof objectKinds)[number]

export interface Key {
  readonly key: string
  readonly on: readonly ObjectKind[]
  readonly decode: Decoder<unknown>
  /** Its value, unless null, is a fact of this name of the object in the manifest; of an enum's labels, as pairs. */
  readonly isFact?: true
  /** Its value is a list of `ColumnAccess`. */
  readonly isAccess?: true
  /** The value with which a schema leaves out what extensions brought. */
  readonly hidesExtensions?: boolean
  /** The value with which comments of composite types are read. */
  readonly namesComposites?: boolean
  /** Its shape and effect, for the owner. */
  readonly help: string
}

/** The settings of the core (spec/graphql.md 13.2); those of an addition that is a folder are there. */
export const coreKeys = [
  {
    key: 'inflect_names',
    on: ['schema'],
    decode: onlyTrue,
    help: 'true gives names GraphQL casing: blog_post becomes BlogPost.',
  },
  {
    key: 'introspection',
    on: ['schema'],
    decode: onlyTrue,
    help: 'true answers introspection queries about this schema.',
  },
  {
    key: 'max_rows',
    on: ['schema', 'relation'],
    decode: pageSize,
    help: 'an integer, at least 0: the largest page; a table goes before its schema, else it is 30.',
  },
  {
    key: 'validation',
    on: ['schema'],
    decode: unlessDisabled,
    help: '{"enabled": false} switches the specification\'s validation rules off.',
  },
  {
    key: 'name',
    on: ['relation', 'column', 'function', 'enum', 'composite', 'foreign key'],
    decode: scalarText,
    help: 'a string: the name in GraphQL, used as it stands.',
  },
  {
    key: 'description',
    on: ['relation', 'column'],
    decode: optionalString,
    help: 'a string: the description in GraphQL.',
  },
  { key: 'description', on: ['function'], decode: scalarText, help: 'a string: the description in GraphQL.' },
  {
    key: 'totalCount',
    on: ['relation'],
    decode: switchedOn,
    help: '{"enabled": true} adds totalCount to its collection.',
  },
  {
    key: 'aggregate',
    on: ['relation'],
    decode: switchedOn,
    help: '{"enabled": true} adds aggregate with count, sum, avg, min and max.',
  },
  {
    key: 'primary_key_columns',
    on: ['relation'],
    decode: optionalStrings,
    help: 'a list of column names: the key of a view or of a table without a primary key.',
  },
  {
    key: 'foreign_keys',
    on: ['relation'],
    decode: optionalForeignKeys,
    help:
      'a list of {"local_columns": [...], "foreign_schema": "...", "foreign_table": "...", ' +
      '"foreign_columns": [...]}, each with local_name and foreign_name if wanted.',
  },
  {
    key: 'mappings',
    on: ['enum'],
    decode: optionalMap,
    help: 'an object from labels to the names of their GraphQL values.',
  },
  {
    key: 'foreign_name',
    on: ['foreign key'],
    decode: scalarText,
    help: 'a string: the field on the referencing side.',
  },
  { key: 'local_name', on: ['foreign key'], decode: scalarText, help: 'a string: the field on the referenced side.' },
] as const satisfies readonly Key[]

/** Rows of the keys that additions bring; their table declares the types of them here (compiler/additions/table.ts). */
export interface AddedKeys {}

type KeyRow = (typeof coreKeys)[number] | AddedKeys[keyof AddedKeys]

export type CommentKeyName = KeyRow['key']

type ValueOf<Row extends KeyRow> = Extract<ReturnType<Row['decode']>, { readonly ok: true }>['value']

/** The settings of one kind of object, decoded; absent ones have their defaults. */
export type CommentSettings<Kind extends ObjectKind> = {
  readonly [Row in KeyRow as Kind extends Row['on'][number] ? Row['key'] : never]: ValueOf<Row>
}
