import { groupBy } from '../../runtime/lib/group-by.ts'
import { createListRecall, createRecall, sameItems, sameJson } from '../../runtime/lib/recall.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { DeclaredForeignKey } from '../comments/decoders.ts'
import type { AnnotatedForeignKey } from '../comments/types.ts'
import { diagnose } from '../report/diagnostics.ts'
import { gatherPresent, noted, type Noted } from '../report/noted.ts'
import { nameConstraint, nameRelation } from '../report/object-name.ts'
import type { Face, Head } from './heads.ts'
import type { Scope } from './scope.ts'

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

type Heads = ReadonlyMap<ObjectId, Head>

/**
 * The links of each relation that has some: constraints in catalogue order, then what comments declare, in the order of
 * the manifest (spec/graphql.md 1.3). A relation's own constraints stay what they are while it and all faces do.
 */
export function buildLinks(
  scope: Scope,
  heads: readonly Head[],
  byId: () => Heads,
): Noted<ReadonlyMap<ObjectId, Sides>> {
  const faces = recallFaces(scope.schemas, heads, [], (head) => head.face)
  const constraints = recallOwn(scope.schemas, heads, [faces], (child) => constraintsOf(byId, child))
  const keys = recallKeys(scope.schemas, heads, [], ({ relation }) => relation.settings.foreign_keys ?? noKeys)
  const declared = gatherPresent(
    heads.flatMap(
      (child, place) => keys[place]?.map((key, index) => declaredLink(byId(), child, key, index + 1)) ?? [],
    ),
  )
  const sides = recallSides(scope.schemas, [constraints, ...declared.value], (before) =>
    groupLinks([...constraints.flat(), ...declared.value], before),
  )
  return noted(sides, declared.diagnostics)
}

const recallFaces = createListRecall<Head, Face>()
const recallOwn = createListRecall<Head, readonly Link[]>()
const recallKeys = createListRecall<Head, readonly DeclaredForeignKey[]>()
const noKeys: readonly DeclaredForeignKey[] = []

const recallSides = createRecall<ReadonlyMap<ObjectId, Sides>>()

const noLinks: readonly Link[] = []

/** Of a relation that no link touches. */
export const unlinked: Sides = { forward: noLinks, reverse: noLinks }

function groupLinks(
  links: readonly Link[],
  before: ReadonlyMap<ObjectId, Sides> | undefined,
): ReadonlyMap<ObjectId, Sides> {
  const forward = groupBy(links, (link) => link.child.id)
  const reverse = groupBy(links, (link) => link.parent.id)
  const ordered = (side: readonly Link[] = noLinks): readonly Link[] =>
    side.length > 1 ? side.toSorted((a, b) => a.order - b.order) : side
  const sidesOf = (id: ObjectId): Sides => {
    const known = before?.get(id)
    const now = { forward: ordered(forward.get(id)), reverse: ordered(reverse.get(id)) }
    return known && sameItems(known.forward, now.forward) && sameItems(known.reverse, now.reverse) ? known : now
  }
  return new Map([...new Set([...forward.keys(), ...reverse.keys()])].map((id) => [id, sidesOf(id)]))
}

const recallConstraints = createRecall<readonly Link[]>()
const recallConstraint = createRecall<Link>()
const recallDeclared = createRecall<Noted<Link | null>>(sameJson)
const recallTargets = createRecall<readonly ObjectId[]>()

/** Links by a relation's own constraints. One that refers to what is not served makes no relation. */
function constraintsOf(byId: () => Heads, child: Head): readonly Link[] {
  const { foreignKeys } = child.relation
  if (foreignKeys.length === 0) return noLinks
  const targets = recallTargets(child.face, foreignKeys, () =>
    foreignKeys.map(({ foreignSchema, foreignRelation }) => objectId(foreignSchema, foreignRelation)),
  )
  const parents = targets.map((id) => byId().get(id)?.face)
  return recallConstraints(child.face, [...foreignKeys, ...parents], () =>
    foreignKeys.flatMap((key, index) => {
      const parent = parents[index]
      if (parent === undefined) return []
      return [recallConstraint(key, [child.face, parent], () => constraintLink(child, parent, key))]
    }),
  )
}

const constraintLink = ({ relation, face }: Head, parent: Face, key: AnnotatedForeignKey): Link => ({
  object: nameConstraint(relation, key.name),
  declared: false,
  order: Number(key.oid),
  child: face,
  parent,
  columns: key.columns,
  foreignColumns: key.foreignColumns,
  foreignName: key.settings.foreign_name ?? key.settings.name,
  localName: key.settings.local_name,
  guaranteed: key.guaranteed,
})

/** An entry that names what does not exist is skipped (spec/graphql.md 13.2). */
function declaredLink(heads: Heads, child: Head, key: DeclaredForeignKey, entry: number): Noted<Link | null> {
  const parent = heads.get(objectId(key.foreignSchema, key.foreignTable))
  return recallDeclared(key, [child, parent, entry], () => linkDeclared(child, parent, key, entry))
}

function linkDeclared(
  child: Head,
  parent: Head | undefined,
  key: DeclaredForeignKey,
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
