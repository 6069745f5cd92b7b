import { tablesOf, type Lookup, type Memo, type Tables } from '../../runtime/lib/memo.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { DeclaredForeignKey } from '../comments/decoders.ts'
import type { AnnotatedForeignKey } from '../comments/types.ts'
import { diagnose } from '../report/diagnostics.ts'
import { collectPresent, withDiagnostics, type WithDiagnostics } from '../report/with-diagnostics.ts'
import { nameConstraint, nameRelation } from '../report/object-name.ts'
import type { RelationOutline, NamedRelation } from './named-relations.ts'

/** A foreign key between two relations of the manifest, be it a constraint or declared by comment. */
export interface Link {
  /** As its owner would name it. */
  readonly object: string
  readonly declared: boolean
  /** The lower one comes first: constraints by their oid, then what comments declare. */
  readonly order: number
  readonly child: RelationOutline
  readonly parent: RelationOutline
  /** Columns of the child and of the parent, pairwise. */
  readonly columns: readonly string[]
  readonly foreignColumns: readonly string[]
  /** Names from comments of the field on the child and of the field on the parent. */
  readonly foreignName: string | null
  readonly localName: string | null
  /** Whether every row of the child that names a parent has that parent. */
  readonly guaranteed: boolean
}

/** The links that touch a relation, from its side; the same objects for as long as they say the same. */
export interface RelationLinks {
  readonly forward: readonly Link[]
  readonly reverse: readonly Link[]
}

interface WithNamedRelations extends Tables {
  readonly namedRelations: Lookup<NamedRelation>
}

interface WithOutlines extends Tables {
  readonly outlines: Lookup<RelationOutline>
}

/**
 * The links of each relation that has some: constraints in catalogue order, then what comments declare, in the order of
 * the manifest (spec/graphql.md 1.3). A relation's own constraints stay what they are while it and all outlines do.
 */
export function buildLinks(
  memo: Memo,
  namedRelations: readonly NamedRelation[],
  lookup: Lookup<NamedRelation>,
): WithDiagnostics<ReadonlyMap<ObjectId, RelationLinks>> {
  const outlines = tablesOf({ outlines: { get: (id: string) => lookup.get(id)?.outline } })
  const constraints = memo.each(constraintsOf, namedRelations, memo, outlines)
  const declared = memo.each(declaredBy, namedRelations, memo, tablesOf({ namedRelations: lookup }))
  return withDiagnostics(
    memo.one(groupLinks, memo, constraints, declared),
    declared.flatMap((links) => links.flatMap(({ diagnostics }) => diagnostics)),
  )
}

const noLinks: readonly Link[] = []

/** Of a relation that no link touches. */
export const unlinked: RelationLinks = { forward: noLinks, reverse: noLinks }

function groupLinks(
  memo: Memo,
  constraints: readonly (readonly Link[])[],
  declared: readonly (readonly WithDiagnostics<Link | null>[])[],
): ReadonlyMap<ObjectId, RelationLinks> {
  const links = [...constraints.flat(), ...declared.flatMap((list) => collectPresent(list).value)]
  const touching = new Map<ObjectId, { readonly outline: RelationOutline; readonly links: Link[] }>()
  for (const link of links) {
    for (const outline of link.child.id === link.parent.id ? [link.child] : [link.child, link.parent]) {
      const found = touching.get(outline.id)
      if (found === undefined) touching.set(outline.id, { outline, links: [link] })
      else found.links.push(link)
    }
  }
  return new Map(Array.from(touching, ([id, { outline, links }]) => [id, memo.of(relationLinksOf, outline, ...links)]))
}

/** @param links all that touch the relation */
const relationLinksOf = ({ id }: RelationOutline, ...links: readonly Link[]): RelationLinks => ({
  forward: ordered(links.filter(({ child }) => child.id === id)),
  reverse: ordered(links.filter(({ parent }) => parent.id === id)),
})

const ordered = (side: readonly Link[]): readonly Link[] => side.toSorted((a, b) => a.order - b.order)

/** Links by a relation's own constraints. One that refers to what is not served makes no relation. */
function constraintsOf({ relation, outline }: NamedRelation, memo: Memo, { outlines }: WithOutlines): readonly Link[] {
  if (relation.foreignKeys.length === 0) return noLinks
  const links = relation.foreignKeys.flatMap((key) => {
    const parent = outlines.get(objectId(key.foreignSchema, key.foreignRelation))
    if (parent === undefined) return []
    return [memo.of(constraintLink, key, outline, parent, nameConstraint(relation, key.name))]
  })
  return memo.of(linksOf, outline, ...links)
}

/** The same list as long as it holds the same. */
const linksOf = (_: RelationOutline, ...links: readonly Link[]): readonly Link[] => links

const constraintLink = (
  key: AnnotatedForeignKey,
  child: RelationOutline,
  parent: RelationOutline,
  object: string,
): Link => ({
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

const noneDeclared: readonly WithDiagnostics<Link | null>[] = []

/** An entry that names what does not exist is skipped (spec/graphql.md 13.2). */
function declaredBy(
  child: NamedRelation,
  memo: Memo,
  { namedRelations }: WithNamedRelations,
): readonly WithDiagnostics<Link | null>[] {
  const keys = child.relation.settings.foreign_keys ?? []
  if (keys.length === 0) return noneDeclared
  return keys.map((key, index) => {
    const parent = namedRelations.get(objectId(key.foreignSchema, key.foreignTable))
    return memo.same(linkDeclared, key, child, parent, index + 1)
  })
}

function linkDeclared(
  key: DeclaredForeignKey,
  child: NamedRelation,
  parent: NamedRelation | undefined,
  entry: number,
): WithDiagnostics<Link | null> {
  const object = nameRelation(child.relation)
  if (parent === undefined) {
    const reason = `${JSON.stringify(key.foreignSchema)}.${JSON.stringify(key.foreignTable)} is not served`
    return withDiagnostics(null, [diagnose('foreign-key-unknown', object, { entry, reason })])
  }
  const reason = columnsProblem(child, parent, key)
  if (reason !== null) return withDiagnostics(null, [diagnose('foreign-key-unknown', object, { entry, reason })])
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

const unknownColumns = (named: NamedRelation, names: readonly string[]): readonly string[] =>
  names.filter((name) => !named.relation.columns.some((column) => column.name === name))
