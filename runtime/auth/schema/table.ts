/** Column: name, then type with its default and constraint. */
export type TableColumn = readonly [name: string, definition: string]

export interface TableDefinition {
  readonly name: string
  readonly columns: readonly TableColumn[]
  /** Table constraints, in full. */
  readonly constraints: readonly string[]
  /** `[unique ]name (columns)` and the rest, as after CREATE INDEX. */
  readonly indexes: readonly Index[]
}

export interface Index {
  readonly name: string
  readonly unique: boolean
  readonly on: string
}

export const time = 'timestamptz'
export const short = 'varchar(255)'
export const emptyText = `varchar(255) default ''::varchar`

export const index = (name: string, on: string): Index => ({ name, unique: false, on })
export const unique = (name: string, on: string): Index => ({ name, unique: true, on })

/** Only tokens are unique: old rows contain blanks and, for telephones, digits. */
export const tokenIndex = (name: string, column: string): Index =>
  unique(name, `(${column}) where ((${column})::text !~ '^[0-9 ]*$'::text)`)

export const toUser = (table: string): string =>
  `constraint ${table}_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade`
