import type { ColumnFacts, EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { LookupColumn } from '../../../runtime/contract/lookups.ts'
import { connectKeys, nestedRelations } from './schema-relations.ts'
import { planMeant } from '../../../runtime/graphql/plan/meant.ts'
import type { Related } from '../../../runtime/engine/related.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { byField } from '../../../runtime/engine/visible.ts'
import { refuse, refusedAt, type Refusal } from '../../../runtime/graphql/protocol/failures.ts'
import { planSharedConflict } from '../../../runtime/graphql/plan/conflict.ts'
import {
  isGiven,
  memberOf,
  objectsIn,
  slotOf,
  type Args,
  type Input,
  type ObjectInput,
} from '../../../runtime/graphql/plan/input.ts'
import { columnNamed, encodingOf, presetsOf } from '../../../runtime/graphql/plan/inputs.ts'
import type { Planner } from '../../../runtime/graphql/plan/planner.ts'
import type { Insert, OnConflict } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { InputStep, Slot, Value } from '../../../runtime/graphql/plan/values.ts'
import type { CarriedColumn, ConnectStep, LinkedValue, NestedInsert, NestedRows, PlacedStep } from './plan-steps.ts'

/**
 * Inserts with related rows (`nestedWrites`, spec/graphql.md 17.6).
 *
 *   post: { title, author: { insert: { name } }, comments: { insert: [{ body }] } }
 *   planRows(post)
 *     planParents (forward)              step 1   insert author, or connect: carried id
 *     own                                step 2   insert post: Link author_id from step 1, carried id
 *     childrenOf (reverse), planRows     step 3   insert comment: Link post_id from step 2
 *
 *   Link.from: CarriedColumn { step, column } and the place of the row there for each row here
 *   statements.ts: one statement a step; carried values pass in the setting of statements-carried.ts
 */

/** Each is a statement. Nothing but a document made for the purpose has as many. */
const maxSteps = 100

function namesRelated(visible: RoleVisibility, entity: EntityFacts, objects: Input): boolean {
  const related = nestedRelations(visible, entity)
  return objectsIn(objects).some(({ fields }) => fields.some(([name]) => related.has(name)))
}

export function insertedRows(visible: RoleVisibility, root: EntityFacts, objects: Input): number {
  const known = new Map<EntityFacts, ReadonlyMap<string, Related>>()
  const relatedOf = (entity: EntityFacts): ReadonlyMap<string, Related> => {
    const related = known.get(entity) ?? nestedRelations(visible, entity)
    known.set(entity, related)
    return related
  }
  const count = (entity: EntityFacts, given: Input): number =>
    objectsIn(given).reduce(
      (sum, { fields }) =>
        fields.reduce((inner, [name, value]) => {
          const target = relatedOf(entity).get(name)?.target
          return target === undefined ? inner : inner + count(target, memberOf(value, 'insert'))
        }, sum + 1),
      0,
    )
  return count(root, objects)
}

/** Counts the rows of an insert, if it can contain related ones. */
export const countInserted = (visible: RoleVisibility, entity: EntityFacts): ((given: Args) => number) | undefined =>
  nestedRelations(visible, entity).size === 0
    ? undefined
    : (given) => {
        const objects = given('objects')
        return namesRelated(visible, entity, objects) ? insertedRows(visible, entity, objects) : 0
      }

export interface Nest {
  readonly planner: Planner
  /** Response key of the field. */
  readonly key: string
  /** The argument that related rows stand in. */
  readonly argument: string
  readonly objects: Slot
  /** The number of the next step. @throws Refusal when there are too many */
  readonly number: () => number
}

export function createNest(planner: Planner, key: string, argument: string, input: Input): Nest {
  let count = 0
  const number = (): number => {
    count += 1
    if (count > maxSteps)
      throw refuse('DOCUMENT_TOO_LARGE', `A field takes related rows in more than ${maxSteps} statements.`)
    return count
  }
  return { planner, key, argument, objects: slotOf(input), number }
}

interface Rows {
  readonly entity: EntityFacts
  readonly path: readonly InputStep[]
  readonly objects: readonly ObjectInput[]
  /** SQL names of the columns that other steps need. */
  readonly carried: readonly string[]
  /** Whether rows before them in the input belong to them. */
  readonly isParent: boolean
  readonly onConflict: OnConflict | null
  /** Values that rows around them give. */
  readonly links: readonly Link[]
}

/** Values of a column that rows of another step have. */
interface Link {
  readonly column: string
  /** The relation. */
  readonly field: string
  readonly from: readonly LinkSource[]
}

interface LinkSource extends CarriedColumn {
  readonly slot: Slot
  readonly places: readonly (number | null)[]
}

/** An insert of which some object names related rows; null: none does. */
export function planInsert(
  planner: Planner,
  { onConflict, ...change }: Pick<Insert, 'key' | 'entity' | 'members' | 'onConflict'>,
  input: Input,
): NestedInsert | null {
  const { key, entity, members } = change
  if (!namesRelated(planner.visible, entity, input)) return null
  const carried = members.some(({ kind }) => kind === 'records') ? entity.key : []
  const conflict = { onConflict: onConflict ?? null }
  const rows = { entity, path: [], objects: objectsIn(input), carried, ...conflict, isParent: false, links: [] }
  const { id, steps } = planRows(createNest(planner, key, 'objects', input), rows)
  return { kind: 'insert-nested', ...change, steps, own: id }
}

export interface PlannedRows {
  readonly id: number
  readonly steps: readonly PlacedStep[]
}

/** The rows that these belong to come first, then they themselves, then those that belong to them. */
export function planRows(nest: Nest, rows: Rows): PlannedRows {
  const { entity, objects, path } = rows
  const related = [...nestedRelations(nest.planner.visible, entity)]
  const given = objects.map(({ fields }) => new Map(fields))
  const named = (direction: 'forward' | 'reverse') =>
    related.filter(
      ([field, { relation }]) =>
        relation.direction === direction && given.some((one) => isGiven(one.get(field) ?? { kind: 'absent' })),
    )
  const parents = named('forward').map(([field, one]) => planParents(nest, path, field, one, given))
  const links = [...rows.links, ...parents.flatMap((parent) => parent.links)]
  const id = nest.number()
  const children = named('reverse').flatMap(([field, one]) => childrenOf(nest, id, path, field, one, given) ?? [])
  const carried = new Set([...rows.carried, ...children.flatMap(carriedFor)])
  const own: PlacedStep = {
    id,
    kind: 'insert',
    entity,
    argument: argumentOf(nest, path),
    carried: [...carried],
    isNeeded: rows.isParent || children.length > 0,
    ...(rows.onConflict && { onConflict: rows.onConflict }),
    ...presetsOf(nest.planner, entity, 'insert'),
    ...planValues(nest, { ...rows, links }),
  }
  const after = children.map((child) => planRows(nest, child))
  return { id, steps: [...parents.flatMap(({ steps }) => steps), own, ...after.flatMap(({ steps }) => steps)] }
}

/** The new rows that belong to those of a step; null: there are none. */
export function childrenOf(
  nest: Nest,
  step: number,
  path: readonly InputStep[],
  field: string,
  { relation, target }: Related,
  given: readonly ReadonlyMap<string, Input>[],
): Rows | null {
  const found = given.flatMap((one, place) =>
    objectsIn(memberOf(one.get(field), 'insert')).map((object) => ({ object, place: place + 1 })),
  )
  if (found.length === 0) return null
  const inner = [...path, { field, member: 'insert' } as const]
  const places = found.map(({ place }) => place)
  const slot: Slot = { kind: 'outer-places', of: nest.objects, path: inner }
  return {
    entity: target,
    path: inner,
    objects: found.map(({ object }) => object),
    carried: [],
    isParent: false,
    onConflict: conflictAt(nest, field, target, given),
    links: relation.foreign.map((column, index) => ({
      column,
      field,
      from: [{ step, column: relation.local[index] ?? '', slot, places }],
    })),
  }
}

/** The columns that these need of the rows that they belong to. */
const carriedFor = ({ links }: Rows): readonly string[] => links.flatMap(({ from }) => from.map(({ column }) => column))

export const argumentOf = ({ argument }: Nest, path: readonly InputStep[]): readonly string[] => [
  argument,
  ...path.flatMap(({ field, member }) => [field, member]),
]

export interface Parents {
  readonly links: readonly Link[]
  readonly steps: readonly PlacedStep[]
}

/** The rows that others belong to: new ones, and for each key those that are found by it. */
export function planParents(
  nest: Nest,
  path: readonly InputStep[],
  field: string,
  { relation, target }: Related,
  given: readonly ReadonlyMap<string, Input>[],
): Parents {
  const keys = connectKeys(nest.planner.visible, target)
  const picked = given.map((one) => pickParent(nest, one.get(field), keys))
  const planned = [null, ...keys].flatMap((key) => {
    const objects = picked.flatMap((pick) => (pick !== null && pick.key === key ? [pick.object] : []))
    if (objects.length === 0) return []
    const step: InputStep =
      key === null ? { field, member: 'insert' } : { field, member: 'connect', key: key.map((column) => column.field) }
    const onConflict = key === null ? conflictAt(nest, field, target, given) : null
    const carried = relation.foreign
    const rows = { entity: target, path: [...path, step], objects, carried, isParent: true, onConflict, links: [] }
    let place = 0
    const places = picked.map((pick) => (pick !== null && pick.key === key ? (place += 1) : null))
    const slot: Slot = { kind: 'inner-places', of: nest.objects, path, step }
    return [{ ...(key === null ? planRows(nest, rows) : planConnect(nest, rows, key)), places, slot }]
  })
  return {
    links: relation.local.map((column, index) => ({
      column,
      field,
      from: planned.map(({ id, places, slot }) => ({ step: id, column: relation.foreign[index] ?? '', places, slot })),
    })),
    steps: planned.flatMap(({ steps }) => steps),
  }
}

/** The treatment of existing rows at a place of the input. */
function conflictAt(
  { planner, key }: Nest,
  field: string,
  target: EntityFacts,
  given: readonly ReadonlyMap<string, Input>[],
): OnConflict | null {
  const holders = given.flatMap((one) => one.get(field) ?? [])
  const adding = holders.filter((holder) => objectsIn(memberOf(holder, 'insert')).length > 0)
  return planSharedConflict(planner, key, field, target, adding)
}

interface ParentPick {
  /** Null: it is inserted. */
  readonly key: readonly LookupColumn[] | null
  readonly object: ObjectInput
}

function pickParent(
  nest: Nest,
  input: Input | undefined,
  keys: readonly (readonly LookupColumn[])[],
): ParentPick | null {
  const [insert, connect] = [memberOf(input, 'insert'), memberOf(input, 'connect')]
  checkOne(
    nest,
    [insert, connect].flatMap(({ kind }, place) => (kind === 'object' ? [place === 0 ? 'insert' : 'connect'] : [])),
  )
  if (insert.kind === 'object') return { key: null, object: insert }
  return connect.kind === 'object' ? { key: keyNamed(nest, 'connect', connect, keys), object: connect } : null
}

/** @throws Refusal where several of the members are given */
export function checkOne({ key }: Nest, [first, second]: readonly string[]): void {
  if (second !== undefined) throw refusedAt(key, `Only one of "${first}" and "${second}" can be given`)
}

/** The key whose columns an object names. @throws Refusal where it is none */
export function keyNamed(
  nest: Nest,
  member: string,
  { fields }: ObjectInput,
  keys: readonly (readonly LookupColumn[])[],
): readonly LookupColumn[] {
  const names = fields.map(([name]) => name)
  const key = keys.find(
    (columns) => columns.length === names.length && columns.every(({ field }) => names.includes(field)),
  )
  if (key === undefined)
    throw refusedAt(nest.key, `"${member}" takes the columns of one key: ${keys.map(keyText).join(', ')}`)
  return key
}

const keyText = (columns: readonly LookupColumn[]): string => `{${columns.map(({ field }) => field).join(', ')}}`

/** Which columns the rows are found by that objects on a path name, with one value of each object. */
export const keyValues = (nest: Nest, path: readonly InputStep[], key: readonly LookupColumn[]): ConnectStep['by'] =>
  key.map(({ column, field }) => ({
    column,
    values: {
      slot: { kind: 'within', of: nest.objects, path },
      encoding: { kind: 'each', path: [field], list: false, maxLength: null },
    },
  }))

function planConnect(nest: Nest, { entity, path, carried }: Rows, key: readonly LookupColumn[]): PlannedRows {
  const id = nest.number()
  const by = keyValues(nest, path, key)
  const meant = planMeant(nest.planner.visible, entity)
  return { id, steps: [{ id, kind: 'connect', entity, argument: argumentOf(nest, path), carried, by, ...meant }] }
}

interface OwnValues {
  readonly rows: NestedRows
  readonly given: Value | number
}

/** Objects that name the same columns, and whose others come from the same relations, are one parameter for all. */
function planValues(nest: Nest, { entity, path, objects, links }: Rows): OwnValues {
  const insertable = nest.planner.visible.insertable(entity)
  const inputs = byField(insertable)
  const own = objects.map(({ fields }) => new Map(fields.filter(([name]) => inputs.has(name))))
  const names = [...new Set(own.flatMap((one) => [...one.keys()]))]
  const columns = names.map((name) => columnNamed(inputs, name))
  checkTwice(nest, columns, own, links)
  const isWhole =
    own.every((one) => one.size === names.length) && links.every(({ from }) => coversAll(from, own.length))
  if (own.length > 1 && isWhole && names.length + links.length > 0) {
    const slot: Slot = path.length === 0 ? nest.objects : { kind: 'within', of: nest.objects, path }
    const members = columns.map(({ maxLength }, index) => ({ name: names[index] ?? '', maxLength }))
    return {
      rows: {
        kind: 'uniform',
        columns: columns.map(({ column }) => column),
        records: members.length === 0 ? null : { slot, encoding: { kind: 'records', members } },
        links: uniformLinks(links),
      },
      given: { slot, encoding: { kind: 'count' } },
    }
  }
  return { rows: separateRows(insertable, columns, own, links), given: own.length }
}

const coversAll = (from: readonly LinkSource[], count: number): boolean =>
  Array.from({ length: count }, (_, place) => place).every((place) =>
    from.some(({ places }) => (places[place] ?? null) !== null),
  )

/** Columns that come from the same rows share the parameter of their places. */
function uniformLinks(links: readonly Link[]): Extract<NestedRows, { kind: 'uniform' }>['links'] {
  const known = new Map<Slot, Value>()
  const placesIn = (slot: Slot): Value => {
    const value = known.get(slot) ?? { slot, encoding: { kind: 'array', maxLength: null } }
    known.set(slot, value)
    return value
  }
  return links.map(({ column, from }) => ({
    column,
    from: from.map(({ step, column: there, slot }) => ({ step, column: there, places: placesIn(slot) })),
  }))
}

function separateRows(
  insertable: readonly ColumnFacts[],
  own: readonly ColumnFacts[],
  objects: readonly ReadonlyMap<string, Input>[],
  links: readonly Link[],
): NestedRows {
  const linked = links.map(({ column }) => column)
  const named = [...new Set([...own.map(({ column }) => column), ...linked])]
  // Nothing named: any column that may be written, so that all of them take their defaults.
  const columns = named.length > 0 ? named : insertable.slice(0, 1).map(({ column }) => column)
  return {
    kind: 'separate',
    columns,
    rows: objects.map((fields, place) =>
      columns.map((name): Value | LinkedValue | null => {
        const column = own.find((one) => one.column === name)
        const value = column === undefined ? undefined : fields.get(column.field ?? '')
        if (column !== undefined && value !== undefined) return { slot: slotOf(value), encoding: encodingOf(column) }
        return links.flatMap((link) => (link.column === name ? linkedAt(link, place) : [])).at(0) ?? null
      }),
    ),
  }
}

const linkedAt = ({ from }: Link, row: number): readonly LinkedValue[] =>
  from.flatMap(({ step, column, places }) => {
    const place = places[row] ?? null
    return place === null ? [] : [{ step, column, place }]
  })

export const givenTwice = ({ key }: Nest, column: string, first: string, second: string): Refusal =>
  refusedAt(key, `The column "${column}" is given by "${first}" and by "${second}"`)

/** @throws Refusal where two things give a row the same column */
function checkTwice(
  nest: Nest,
  columns: readonly ColumnFacts[],
  objects: readonly ReadonlyMap<string, Input>[],
  links: readonly Link[],
): void {
  objects.forEach((fields, place) => {
    const given = new Map(
      columns.flatMap(({ column, field }) => (fields.has(field ?? '') ? [[column, field ?? '']] : [])),
    )
    for (const link of links) {
      if (linkedAt(link, place).length === 0) continue
      const before = given.get(link.column)
      if (before !== undefined) throw givenTwice(nest, link.column, before, link.field)
      given.set(link.column, link.field)
    }
  })
}
