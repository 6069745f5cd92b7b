import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import { tablesOf, type Tables, viewOf, type Lookup, type Table } from '../../runtime/lib/memo/tables.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { Diagnostic, ObjectId } from '../../runtime/contract/manifest.ts'
import type { DeclaredForeignKey } from '../comments/decoders.ts'
import type { AnnotatedForeignKey, AnnotatedType } from '../comments/annotated.ts'
import { diagnose, collectPresent, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { mayBeEqual } from './comparable.ts'
import type { ModelScope } from './scope.ts'
import type { FunctionScope } from './signatures.ts'
import { nameConstraint, nameRelation } from '../catalog/catalog.ts'
import type { RelationOutline, NamedRelation } from './named-relations.ts'

export interface Link {
  /** In the owner's notation. */
  readonly object: string
  readonly declared: boolean
  /** Lower ones come first: constraints by their oid, then those of comments. */
  readonly order: number
  readonly child: RelationOutline
  readonly parent: RelationOutline
  /** Columns of the child and of the parent, in pairs. */
  readonly columns: readonly string[]
  readonly foreignColumns: readonly string[]
  /** Names from comments for the field on the child and for the field on the parent. */
  readonly foreignName: string | null
  readonly localName: string | null
  /** Whether every row of the child with non-null columns has its parent. */
  readonly guaranteed: boolean
}

/** The links of a relation, from its side; the objects keep their identity while they are equal. */
export interface RelationLinks {
  readonly forward: readonly Link[]
  readonly reverse: readonly Link[]
}

export interface RelationScope extends FunctionScope {
  readonly relationLinks: Lookup<RelationLinks>
}

interface Others extends Tables {
  readonly namedRelations: Lookup<NamedRelation>
  readonly outlines: Lookup<RelationOutline>
  readonly types: Lookup<AnnotatedType>
}

/** The links of one relation to others, its constraints first. */
type OwnLinks = WithDiagnostics<readonly Link[]>

/**
 * The links of each relation with any: constraints in catalogue order, then those of comments, in the order of the
 * manifest (spec/graphql.md 1.3). A relation's own links keep their identity while it and all outlines do.
 */
export function* buildLinks(
  memo: Memo,
  namedRelations: readonly NamedRelation[],
  byId: Table<NamedRelation>,
  { types }: Pick<ModelScope, 'types'>,
): Steps<WithDiagnostics<Table<RelationLinks>>> {
  const others: Others = tablesOf({ namedRelations: byId, outlines: viewOf(byId, outlineOf), types })
  const own = yield* memo.each(ownLinks, namedRelations, memo, others)
  const links = yield* memo.groups(touchedBy, yield* memo.map(linksIn, own))
  return {
    value: memo.one(linksByRelation, memo, links),
    get diagnostics() {
      return memo.of(diagnosticsOf, own)
    },
  }
}

const outlineOf = ({ outline }: NamedRelation): RelationOutline => outline
const diagnosticsOf = (own: readonly OwnLinks[]): readonly Diagnostic[] => own.flatMap(({ diagnostics }) => diagnostics)
const linksIn = ({ value }: OwnLinks): readonly Link[] => value

const touchedBy = (links: readonly Link[]): readonly ObjectId[] => [
  ...new Set(links.flatMap(({ child, parent }) => [child.id, parent.id])),
]

const linksByRelation = (memo: Memo, links: Table<readonly (readonly Link[])[]>): Table<RelationLinks> =>
  viewOf(links, (lists, id) => linksOfRelation(memo, lists, id))

function linksOfRelation(memo: Memo, lists: readonly (readonly Link[])[], id: ObjectId): RelationLinks {
  const links = lists.flat().filter(({ child, parent }) => child.id === id || parent.id === id)
  const [first] = links
  if (first === undefined) return unlinked
  return memo.of(relationLinksOf, first.child.id === id ? first.child : first.parent, ...links)
}

const noLinks: OwnLinks = withDiagnostics([])

export const unlinked: RelationLinks = { forward: noLinks.value, reverse: noLinks.value }

/** @param links all of the relation, by relation */
const relationLinksOf = ({ id }: RelationOutline, ...links: readonly Link[]): RelationLinks => ({
  forward: ordered(links.filter(({ child }) => child.id === id)),
  reverse: ordered(links.filter(({ parent }) => parent.id === id)),
})

const ordered = (side: readonly Link[]): readonly Link[] => side.toSorted((a, b) => a.order - b.order)

function ownLinks(child: NamedRelation, memo: Memo, others: Others): OwnLinks {
  const { relation, outline } = child
  const declared = relation.settings.foreign_keys ?? []
  if (relation.foreignKeys.length === 0 && declared.length === 0) return noLinks
  const links = [...constraintsOf(child, memo, others), ...declaredBy(child, declared, memo, others)]
  return memo.of(listed, outline, ...links)
}

/** The same list while its content is the same. */
const listed = (_: RelationOutline, ...links: readonly WithDiagnostics<Link | null>[]): OwnLinks =>
  collectPresent(links)

/** Links from a relation's own constraints. One to an unserved relation makes no relation field. */
const constraintsOf = (
  { relation, outline }: NamedRelation,
  memo: Memo,
  { outlines }: Others,
): readonly WithDiagnostics<Link>[] =>
  relation.foreignKeys.flatMap((key) => {
    const parent = outlines.get(objectId(key.foreignSchema, key.foreignRelation))
    return parent === undefined
      ? []
      : [memo.of(constraintLink, key, outline, parent, nameConstraint(relation, key.name))]
  })

const constraintLink = (
  key: AnnotatedForeignKey,
  child: RelationOutline,
  parent: RelationOutline,
  object: string,
): WithDiagnostics<Link> =>
  withDiagnostics({
    object,
    declared: false,
    order: Number(key.oid),
    child,
    parent,
    columns: key.columns,
    foreignColumns: key.foreignColumns,
    foreignName: key.settings.foreign_name ?? key.settings.name,
    localName: key.settings.local_name,
    guaranteed: key.guaranteed,
  })

/** An entry with unknown names is skipped (spec/graphql.md 13.2). */
const declaredBy = (
  child: NamedRelation,
  keys: readonly DeclaredForeignKey[],
  memo: Memo,
  { namedRelations, types }: Others,
): readonly WithDiagnostics<Link | null>[] =>
  keys.map((key, index) => {
    const parent = namedRelations.get(objectId(key.foreignSchema, key.foreignTable))
    const problem =
      parent === undefined ? null : (columnsProblem(child, parent, key) ?? typesProblem(types, child, parent, key))
    return memo.same(linkDeclared, key, child, parent, index + 1, problem)
  })

function linkDeclared(
  key: DeclaredForeignKey,
  child: NamedRelation,
  parent: NamedRelation | undefined,
  entry: number,
  problem: string | null,
): WithDiagnostics<Link | null> {
  const object = nameRelation(child.relation)
  if (parent === undefined) {
    const reason = `${JSON.stringify(key.foreignSchema)}.${JSON.stringify(key.foreignTable)} is not served`
    return withDiagnostics(null, [diagnose('foreign-key-unknown', object, { entry, reason })])
  }
  if (problem !== null)
    return withDiagnostics(null, [diagnose('foreign-key-unknown', object, { entry, reason: problem })])
  return withDiagnostics({
    object,
    declared: true,
    order: Number.MAX_SAFE_INTEGER,
    child: child.outline,
    parent: parent.outline,
    columns: key.localColumns,
    foreignColumns: key.foreignColumns,
    foreignName: key.foreignName,
    localName: key.localName,
    guaranteed: true,
  })
}

function columnsProblem(child: NamedRelation, parent: NamedRelation, key: DeclaredForeignKey): string | null {
  const unknown = [...unknownColumns(child, key.localColumns), ...unknownColumns(parent, key.foreignColumns)]
  if (unknown.length > 0) return `there is no column ${unknown.map((name) => JSON.stringify(name)).join(', ')}`
  if (key.localColumns.length === 0) return 'it names no column'
  const paired = key.localColumns.length === key.foreignColumns.length
  return paired ? null : 'it names more columns on one side than on the other'
}

/** A relation whose join Postgres refuses would have a field that always fails. */
function typesProblem(
  types: Lookup<AnnotatedType>,
  child: NamedRelation,
  parent: NamedRelation,
  { localColumns, foreignColumns }: DeclaredForeignKey,
): string | null {
  const columnOf = ({ relation }: NamedRelation, name: string | undefined) =>
    relation.columns.find((column) => column.name === name)
  for (const [place, name] of localColumns.entries()) {
    const [own, other] = [columnOf(child, name), columnOf(parent, foreignColumns[place])]
    if (own === undefined || other === undefined || mayBeEqual(types, own.type, other.type)) continue
    return `Postgres does not compare ${JSON.stringify(name)} (${own.typeText}) with ${JSON.stringify(other.name)} (${other.typeText})`
  }
  return null
}

const unknownColumns = (named: NamedRelation, names: readonly string[]): readonly string[] =>
  names.filter((name) => !named.relation.columns.some((column) => column.name === name))
