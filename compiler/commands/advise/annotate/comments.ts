import { withSettings } from '../../../../runtime/lib/json.ts'
import { ident, qualified } from '../../../../runtime/sql/ident.ts'
import { literal } from '../../../../runtime/sql/tree.ts'
import {
  type Catalog,
  type CatalogFunction,
  type CatalogRelation,
  type CatalogType,
  relationWord,
} from '../../../catalog/catalog.ts'

export type Commented =
  | { readonly kind: 'relation'; readonly relation: CatalogRelation }
  | { readonly kind: 'column'; readonly relation: CatalogRelation; readonly column: string }
  | { readonly kind: 'foreign key'; readonly relation: CatalogRelation; readonly constraint: string }
  | { readonly kind: 'type'; readonly type: CatalogType }
  | { readonly kind: 'function'; readonly fn: CatalogFunction }

export type CommentKey = 'name' | 'foreign_name' | 'local_name' | 'primary_key_columns' | 'mappings'

export interface Wish {
  readonly on: Commented
  /** Keys of comments (compiler/comments/keys.ts). */
  readonly settings: Readonly<Record<string, unknown>>
  /** Lines for the reader of the SQL. */
  readonly remarks?: readonly string[]
}

const functionWords: Readonly<Record<CatalogFunction['kind'], string>> = {
  f: 'function',
  w: 'function',
  p: 'procedure',
  a: 'aggregate',
}

/** The object in COMMENT ON (PostgreSQL manual, COMMENT). */
function nameInSql(on: Commented): string {
  switch (on.kind) {
    case 'relation':
      return `${relationWord(on.relation.kind)} ${qualified(on.relation.schema, on.relation.name)}`
    case 'column':
      return `column ${qualified(on.relation.schema, on.relation.name)}.${ident(on.column)}`
    case 'foreign key':
      return `constraint ${ident(on.constraint)} on ${qualified(on.relation.schema, on.relation.name)}`
    case 'type':
      return `type ${qualified(on.type.schema, on.type.name)}`
    case 'function': {
      const { kind, schema, name, args } = on.fn
      return `${functionWords[kind]} ${qualified(schema, name)}(${args.map(({ typeText }) => typeText).join(', ')})`
    }
  }
}

export function commentOn(on: Commented): string | null {
  switch (on.kind) {
    case 'relation':
      return on.relation.comment
    case 'column':
      return on.relation.columns.find(({ name }) => name === on.column)?.comment ?? null
    case 'foreign key':
      return on.relation.foreignKeys.find(({ name }) => name === on.constraint)?.comment ?? null
    case 'type':
      return on.type.comment
    case 'function':
      return on.fn.comment
  }
}

export interface NewComment {
  readonly on: Commented
  readonly text: string
  readonly remarks: readonly string[]
}

/** Merges the wishes for one object into one comment, added to the present one. An unreadable one is unchanged. */
export function mergeWishes(before: ReadonlyMap<string, NewComment>, wishes: readonly Wish[]): Map<string, NewComment> {
  const merged = new Map(before)
  for (const { on, settings, remarks = [] } of wishes) {
    const name = nameInSql(on)
    const known = merged.get(name)
    const text = withSettings(known?.text ?? commentOn(on), (present) => ({ ...present, ...settings }))
    if (text !== null) merged.set(name, { on, text, remarks: [...(known?.remarks ?? []), ...remarks] })
  }
  return merged
}

export const printComment = ({ on, text, remarks }: NewComment): string =>
  [
    ...remarks.map((line) => `-- ${line.replaceAll(/[\r\n]+/g, ' ')}`),
    `comment on ${nameInSql(on)} is ${literal(text)};`,
  ].join('\n')

export function withComments(catalog: Catalog, comments: ReadonlyMap<string, NewComment>): Catalog {
  const textOn = (on: Commented): string | null => comments.get(nameInSql(on))?.text ?? commentOn(on)
  return {
    ...catalog,
    relations: catalog.relations.map((relation) => ({
      ...relation,
      comment: textOn({ kind: 'relation', relation }),
      columns: relation.columns.map((column) => ({
        ...column,
        comment: textOn({ kind: 'column', relation, column: column.name }),
      })),
      foreignKeys: relation.foreignKeys.map((key) => ({
        ...key,
        comment: textOn({ kind: 'foreign key', relation, constraint: key.name }),
      })),
    })),
    types: catalog.types.map((type) => ({ ...type, comment: textOn({ kind: 'type', type }) })),
    functions: catalog.functions.map((fn) => ({ ...fn, comment: textOn({ kind: 'function', fn }) })),
  }
}
