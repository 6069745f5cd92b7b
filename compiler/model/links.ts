import { createRecall } from '../../runtime/lib/recall.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { DeclaredForeignKey } from '../comments/decoders.ts'
import type { AnnotatedForeignKey } from '../comments/types.ts'
import { diagnose } from '../report/diagnostics.ts'
import { gatherPresent, noted, type Noted } from '../report/noted.ts'
import { nameConstraint, nameRelation } from '../report/object-name.ts'
import type { Head } from './heads.ts'

/** A foreign key between two relations of the manifest, be it a constraint or declared by comment. */
export interface Link {
  /** As its owner would name it. */
  readonly object: string
  readonly declared: boolean
  readonly child: Head
  readonly parent: Head
  /** Columns of the child and of the parent, pairwise. */
  readonly columns: readonly string[]
  readonly foreignColumns: readonly string[]
  /** Names from comments of the field on the child and of the field on the parent. */
  readonly foreignName: string | null
  readonly localName: string | null
  /** Whether every row of the child that names a parent has that parent. */
  readonly guaranteed: boolean
}

/** Every link: constraints in catalogue order, then what comments declare, in the order of the manifest (1.3). */
export function buildLinks(heads: readonly Head[]): Noted<readonly Link[]> {
  const byId = new Map(heads.map((head) => [head.id, head]))
  const constraints = heads
    .flatMap((child) => constraintsOf(byId, child))
    .sort((a, b) => a.order - b.order)
    .map(({ link }) => link)
  const declared = gatherPresent(
    heads.flatMap((child) =>
      (child.relation.settings.foreign_keys ?? []).map((key, index) => declaredLink(byId, child, key, index + 1)),
    ),
  )
  return noted([...constraints, ...declared.value], declared.diagnostics)
}

const recallConstraints = createRecall<readonly Ordered[]>()
const recallConstraint = createRecall<Ordered>()
const recallDeclared = createRecall<Noted<Link | null>>()

type Heads = ReadonlyMap<ObjectId, Head>

interface Ordered {
  readonly order: number
  readonly link: Link
}

const recallTargets = createRecall<readonly ObjectId[]>()

/** Links by a relation's own constraints. One that refers to what is not served makes no relation. */
function constraintsOf(heads: Heads, child: Head): readonly Ordered[] {
  const { foreignKeys } = child.relation
  if (foreignKeys.length === 0) return []
  const targets = recallTargets(child, [], () =>
    foreignKeys.map(({ foreignSchema, foreignRelation }) => objectId(foreignSchema, foreignRelation)),
  )
  const parents = targets.map((id) => heads.get(id))
  return recallConstraints(child, parents, () =>
    foreignKeys.flatMap((key, index) => {
      const parent = parents[index]
      if (parent === undefined) return []
      return [recallConstraint(key, [child, parent], () => constraintLink(child, parent, key))]
    }),
  )
}

const constraintLink = (child: Head, parent: Head, key: AnnotatedForeignKey): Ordered => ({
  order: Number(key.oid),
  link: {
    object: nameConstraint(child.relation, key.name),
    declared: false,
    child,
    parent,
    columns: key.columns,
    foreignColumns: key.foreignColumns,
    foreignName: key.settings.foreign_name ?? key.settings.name,
    localName: key.settings.local_name,
    guaranteed: key.guaranteed,
  },
})

/** An entry that names what does not exist is skipped (13.2). */
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
    child,
    parent,
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
