import type {
  Catalog,
  CatalogColumn,
  CatalogForeignKey,
  CatalogFunction,
  CatalogGrant,
  CatalogRelation,
  CatalogSchema,
  CatalogType,
} from '../catalog/catalog.ts'
import type { Deprecable, Diagnostic } from '../../runtime/contract/manifest.ts'
import type { ColumnAccess } from './column-access.ts'
import type { CommentSettings } from './keys.ts'
import type { LabelFacts } from './settings.ts'

/** c2: the Catalog with the decoded settings of comments. No comment text from here on. */
export interface Annotated extends Omit<
  Catalog,
  'schemas' | 'relations' | 'types' | 'functions' | 'strays' | 'members'
> {
  readonly schemas: readonly AnnotatedSchema[]
  readonly relations: readonly AnnotatedRelation[]
  readonly types: readonly AnnotatedType[]
  readonly functions: readonly AnnotatedFunction[]
  /** Why requests fail (spec/graphql.md 13.1): at most one reason for each schema, the one with precedence. */
  readonly refusals: readonly SchemaRefusal[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The answer to every role with USAGE on a schema with a malformed comment. */
export interface SchemaRefusal {
  readonly message: string
  /** Of the schema. */
  readonly grants: readonly CatalogGrant[]
}

export interface AnnotatedSchema extends Omit<CatalogSchema, 'comment'> {
  readonly settings: CommentSettings<'schema'>
}

export interface AnnotatedRelation extends Omit<CatalogRelation, 'comment' | 'columns' | 'foreignKeys'> {
  readonly settings: CommentSettings<'relation'>
  readonly facts?: Deprecable
  /** The `description` setting, else the comment's text outside the directive (spec/graphql.md 12.4). */
  readonly description: string | null
  readonly columns: readonly AnnotatedColumn[]
  readonly foreignKeys: readonly AnnotatedForeignKey[]
  /** The extension that created it; absent: none. */
  readonly ofExtension?: string
  /** Settings for single columns and roles; absent: none. */
  readonly access?: readonly StatedAccess[]
}

/** A setting for a column and a role, and the key of the comment that has it. */
export interface StatedAccess extends ColumnAccess {
  readonly key: string
}

export interface AnnotatedColumn extends Omit<CatalogColumn, 'comment'> {
  readonly settings: CommentSettings<'column'>
  readonly facts?: Deprecable
  readonly description: string | null
}

export interface AnnotatedForeignKey extends Omit<CatalogForeignKey, 'comment'> {
  readonly settings: CommentSettings<'foreign key'>
}

export interface AnnotatedType extends Omit<CatalogType, 'comment'> {
  /** Settings of an enum, and the name of a composite type; those of other types are always default. */
  readonly settings: CommentSettings<'enum'>
  readonly facts?: LabelFacts
}

export interface AnnotatedFunction extends Omit<CatalogFunction, 'comment'> {
  readonly settings: CommentSettings<'function'>
  readonly facts?: Deprecable
  /** The extension that created it; absent: none. */
  readonly ofExtension?: string
  readonly description: string | null
}
