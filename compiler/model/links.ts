import { tablesOf, type Lookup, type Memo, type Tables } from '../../runtime/lib/memo.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { DeclaredForeignKey } from '../comments/decoders.ts'
import type { AnnotatedForeignKey } from '../comments/types.ts'
import { diagnose } from '../report/diagnostics.ts'
import { gatherPresent, noted, type Noted } from '../report/noted.ts'
import { nameConstraint, nameRelation } from '../report/object-name.ts'
import type { Face, Head } from './heads.ts'

/** A foreign key between two relations of the manifest, be it a constraint or declared by comment. */
export interface Link {
  /** As its owner would name it. */
  readonly object: string
  readonly declared: boolean
  /** The lower one comes first: constraints by their oid, then what comments declare. */
  readonly order: number
  readonly child: Face
  readonly parent: Face
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
export interface Sides {
  readonly forward: readonly Link[]
  readonly reverse: readonly Link[]
}

interface Heads extends Tables {
  readonly heads: Lookup<Head>
}

interface Faces extends Tables {
  readonly faces: Lookup<Face>
}

/**
 * The links of each relation that has some: constraints in catalogue order, then what comments declare, in the order of
 * the manifest (spec/graphql.md 1.3). A relation's own constraints stay what they are while it and all faces do.
 */
export function buildLinks(
  memo: Memo,
  heads: readonly Head[],
  lookup: Lookup<Head>,
): Noted<ReadonlyMap<ObjectId, Sides>> {
  const faces = tablesOf({ faces: { get: (id: string) => lookup.get(id)?.face } })
  const constraints = memo.each(constraintsOf, heads, memo, faces)
  const declared = memo.each(declaredBy, heads, memo, tablesOf({ heads: lookup }))
  return noted(
    memo.one(groupLinks, memo, constraints, declared),
    declared.flatMap((links) => links.flatMap(({ diagnostics }) => diagnostics)),
  )
}

const noLinks: readonly Link[] = []

/** Of a relation that no link touches. */
export const unlinked: Sides = { forward: noLinks, reverse: noLinks }

function groupLinks(
  memo: Memo,
  constraints: readonly (readonly Link[])[],
  declared: readonly (readonly Noted<Link | null>[])[],
): ReadonlyMap<ObjectId, Sides> {
  const links = [...constraints.flat(), ...declared.flatMap((list) => gatherPresent(list).value)]
  const touching = new Map<ObjectId, { readonly face: Face; readonly links: Link[] }>()
  for (const link of links) {
    for (const face of link.child.id === link.parent.id ? [link.child] : [link.child, link.parent]) {
      const found = touching.get(face.id)
      if (found === undefined) touching.set(face.id, { face, links: [link] })
      else found.links.push(link)
    }
  }
  return new Map(Array.from(touching, ([id, { face, links }]) => [id, memo.of(sidesOf, face, ...links)]))
}

/** @param links all that touch the relation */
const sidesOf = ({ id }: Face, ...links: readonly Link[]): Sides => ({
  forward: ordered(links.filter(({ child }) => child.id === id)),
  reverse: ordered(links.filter(({ parent }) => parent.id === id)),
})

const ordered = (side: readonly Link[]): readonly Link[] => side.toSorted((a, b) => a.order - b.order)

/** Links by a relation's own constraints. One that refers to what is not served makes no relation. */
function constraintsOf({ relation, face }: Head, memo: Memo, { faces }: Faces): readonly Link[] {
  if (relation.foreignKeys.length === 0) return noLinks
  const links = relation.foreignKeys.flatMap((key) => {
    const parent = faces.get(objectId(key.foreignSchema, key.foreignRelation))
    if (parent === undefined) return []
    return [memo.of(constraintLink, key, face, parent, nameConstraint(relation, key.name))]
  })
  return memo.of(linksOf, face, ...links)
}

/** The same list as long as it holds the same. */
const linksOf = (_: Face, ...links: readonly Link[]): readonly Link[] => links

const constraintLink = (key: AnnotatedForeignKey, child: Face, parent: Face, object: string): Link => ({
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

const noneDeclared: readonly Noted<Link | null>[] = []

/** An entry that names what does not exist is skipped (spec/graphql.md 13.2). */
function declaredBy(child: Head, memo: Memo, { heads }: Heads): readonly Noted<Link | null>[] {
  const keys = child.relation.settings.foreign_keys ?? []
  if (keys.length === 0) return noneDeclared
  return keys.map((key, index) => {
    const parent = heads.get(objectId(key.foreignSchema, key.foreignTable))
    return memo.same(linkDeclared, key, child, parent, index + 1)
  })
}

function linkDeclared(
  key: DeclaredForeignKey,
  child: Head,
  parent: Head | undefined,
  entry: number,
): Noted<Link | null> {
  const object = nameRelation(child.relation)
  if (parent === undefined) {
    const reason = `${JSON.stringify(key.foreignSchema)}.${JSON.stringify(key.foreignTable)} is not served`
    return noted(null, [diagnose('foreign-key-unknown', object, { entry, reason })])
  }
  const reason = columnsProblem(child, parent, key)
  if (reason !== null) return noted(null, [diagnose('foreign-key-unknown', object, { entry, reason })])
  return noted({
    object,
    declared: true,
    order: Number.MAX_SAFE_INTEGER,
    child: child.face,
    parent: parent.face,
    columns: key.localColumns,
    foreignColumns: key.foreignColumns,
    foreignName: key.foreignName,
    localName: key.localName,
    guaranteed: true,
  })
}

function columnsProblem(child: Head, parent: Head, key: DeclaredForeignKey): string | null {
  const unknown = [...unknownColumns(child, key.localColumns), ...unknownColumns(parent, key.foreignColumns)]
  if (unknown.length > 0) return `there is no column ${unknown.map((name) => JSON.stringify(name)).join(', ')}`
  if (key.localColumns.length === 0) return 'it names no column'
  const paired = key.localColumns.length === key.foreignColumns.length
  return paired ? null : 'it names more columns on one side than on the other'
}

const unknownColumns = (head: Head, names: readonly string[]): readonly string[] =>
  names.filter((name) => !head.relation.columns.some((column) => column.name === name))
