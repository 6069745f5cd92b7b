import type { LookupColumn, RowKey } from '../../../runtime/contract/lookups.ts'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import { changeForms } from './facts.ts'
import { rowChanges } from '../../../runtime/engine/schema/writes.ts'
import {
  argumentName,
  connectKeys,
  nullableColumns,
  relatedChanges,
  takesRelated,
  type ChangeMember,
  type RelatedChange,
} from './schema-relations.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import {
  namedChanges,
  planKey,
  planRowSets,
  planSetOf,
  type NamedChange,
} from '../../../runtime/graphql/plan/changes.ts'
import {
  memberOf,
  objectsIn,
  inputValue,
  type Args,
  type Input,
  type ObjectInput,
} from '../../../runtime/graphql/plan/input.ts'
import { presetsOf } from '../../../runtime/graphql/plan/inputs.ts'
import {
  argumentOf,
  checkOne,
  childrenOf,
  createNest,
  givenTwice,
  insertedRows,
  keyNamed,
  keyValues,
  planParents,
  planRows,
  type Nest,
} from './plan.ts'
import type { Planner, SelectedField } from '../../../runtime/graphql/plan/planner.ts'
import type { InputStep, Slot } from '../../../runtime/graphql/plan/values.ts'
import type { ColumnLink, LinkedValue, OwnStep, PlacedStep, RelatedStep, RelatedUpdate } from './plan-steps.ts'

/** Related rows in an update by key (`nestedWrites` with `updates`, spec/graphql.md 17.6). */

interface Named {
  readonly field: string
  readonly change: RelatedChange
  readonly input: Input
  /** The members that name rows, in order. */
  readonly members: readonly ChangeMember[]
}

/** Whether a member's input names rows: an object, some objects, or true. */
const namesRows = (input: Input): boolean =>
  input.kind === 'leaf' ? inputValue(input) === true : objectsIn(input).length > 0

const namedIn = (visible: RoleVisibility, entity: EntityFacts, related: Input): readonly Named[] =>
  [...relatedChanges(visible, entity)].flatMap(([field, change]): readonly Named[] => {
    const input = memberOf(related, field)
    const members = change.members.filter((member) => namesRows(memberOf(input, member)))
    return members.length === 0 ? [] : [{ field, change, input, members }]
  })

/** The number of rows that `related` names, nested ones included. */
const relatedRows = (visible: RoleVisibility, entity: EntityFacts, related: Input): number =>
  namedIn(visible, entity, related)
    .flatMap(({ change, input, members }) =>
      members.map((member) => {
        const given = memberOf(input, member)
        if (member === 'insert') return insertedRows(visible, change.target, given)
        return given.kind === 'leaf' ? 1 : objectsIn(given).length
      }),
    )
    .reduce((sum, count) => sum + count, 0)

/** Counts the rows that an update by this key names, if it takes related ones. */
export const countRelated = (
  visible: RoleVisibility,
  entity: EntityFacts,
  key: RowKey,
): ((given: Args) => number) | undefined =>
  takesRelated(visible, entity, key) ? (given) => relatedRows(visible, entity, given(argumentName)) : undefined

/** The row of an update by key with related ones; null if it names none. */
export function planRowUpdate(
  planner: Planner,
  entity: EntityFacts,
  key: RowKey,
  selected: SelectedField,
): RelatedUpdate | null {
  const { visible } = planner
  if (!takesRelated(visible, entity, key)) return null
  const input = planner.args(selected)(argumentName)
  const named = namedIn(visible, entity, input)
  if (named.length === 0) return null
  const nest = createNest(planner, selected.key, argumentName, input)
  for (const { change, members } of named) if (changeForms[change.part].of !== 'children') checkOne(nest, members)
  const [forward, reverse] = [named.filter(isForward), named.filter((one) => !isForward(one))]
  const changes = namedChanges(planner, entity, selected)
  const row = { by: key.columns.map(({ column }) => column), values: planKey(planner, key, selected) }
  const place = (step: Omit<OwnStep, 'kind' | 'by' | 'values'> & Pick<PlacedStep, 'carried'>): OwnPlaced => ({
    ...row,
    ...step,
    kind: 'own',
    id: nest.number(),
    entity,
    argument: argumentOf(nest, []),
  })
  const isSet = changes.length > 0 || forward.some(({ members }) => !members.includes('update'))
  const before = forward.filter(({ members }) => members.includes('update') || members.includes('delete'))
  const needed = before.flatMap(({ change }) => change.relation.local)
  const found = isSet && needed.length === 0 ? null : place({ set: [], links: [], carried: needed })
  const parents = forward.map((one) => planParent(nest, entity, one, found?.id ?? 0))
  const links = parents.flatMap((parent) => parent.links)
  checkLinks(nest, changes, links)
  const set = [...changes.map(({ change }) => change), ...visible.presets(entity, 'update')]
  const changed = isSet || found === null ? place({ set, links, carried: [] }) : null
  const own = changed ?? found
  if (own === null) throw new Error(`nothing is done with ${entity.id}`)
  const children = reverse.map((one) => planChildren(nest, own.id, one))
  const kept: OwnPlaced = {
    ...own,
    carried: [...new Set([...own.carried, ...entity.key, ...children.flatMap(({ carried }) => carried)])],
  }
  const around = parents.flatMap(({ steps }) => steps)
  return {
    kind: 'update-related',
    key: selected.key,
    entity,
    steps: [
      ...(changed === null ? [kept, ...around] : [...(found === null ? [] : [found]), ...around, kept]),
      ...children.flatMap(({ steps }) => steps),
      ...parents.flatMap(({ after }) => after),
    ],
    own: own.id,
    row: planner.row(planner, entity, selected),
  }
}

type OwnPlaced = PlacedStep & OwnStep

const isForward = ({ change }: Named): boolean => change.relation.direction === 'forward'

/** @throws Refusal if the row gets the same column twice */
function checkLinks(nest: Nest, changes: readonly NamedChange[], links: Parent['links']): void {
  const given = new Map(changes.map(({ change, field }) => [change.column, field]))
  for (const { column, field } of links) {
    const first = given.get(column)
    if (first !== undefined) throw givenTwice(nest, column, first, field)
    given.set(column, field)
  }
}

interface Parent {
  /** The columns that it gives the row; null: the reference is removed. */
  readonly links: readonly { readonly column: string; readonly field: string; readonly from: LinkedValue | null }[]
  readonly steps: readonly PlacedStep[]
  readonly after: readonly PlacedStep[]
}

/** @param found the step that found the row in its former state, if needed */
function planParent(nest: Nest, entity: EntityFacts, { field, change, input, members }: Named, found: number): Parent {
  const { relation, target } = change
  const path = (member: ChangeMember): readonly InputStep[] => [{ field, member }]
  const belonging = pairs(relation.foreign, relation.local, found)
  if (members.includes('update')) {
    const set = planSetOf(nest.planner, target, memberOf(input, 'update'))
    return { links: [], steps: [related(nest, target, path('update'), { belonging, set })], after: [] }
  }
  if (members.includes('disconnect') || members.includes('delete')) {
    const links = nullableColumns(entity, relation.local).map((column) => ({ column, field, from: null }))
    const gone = members.includes('delete') ? [related(nest, target, path('delete'), { belonging, set: null })] : []
    return { links, steps: [], after: gone }
  }
  const { links, steps } = planParents(nest, [], field, change, [new Map([[field, input]])])
  return {
    links: links.map(({ column, from: [from] }) => ({
      column,
      field,
      from: from === undefined ? null : { step: from.step, column: from.column, place: 1 },
    })),
    steps,
    after: [],
  }
}

interface Children {
  readonly steps: readonly PlacedStep[]
  /** The columns of the row that they need. */
  readonly carried: readonly string[]
}

const inOrder: readonly ChangeMember[] = ['disconnect', 'delete', 'update', 'connect', 'insert']

function planChildren(nest: Nest, own: number, named: Named): Children {
  const steps = inOrder
    .filter((member) => named.members.includes(member))
    .flatMap((member) => planChild(nest, own, named, member))
  return { steps, carried: named.change.relation.local }
}

function planChild(
  nest: Nest,
  own: number,
  { field, change, input }: Named,
  member: ChangeMember,
): readonly PlacedStep[] {
  const { relation, target, part } = change
  const path: readonly InputStep[] = [{ field, member }]
  const given = memberOf(input, member)
  if (member === 'insert') {
    const rows = childrenOf(nest, own, [], field, change, [new Map([[field, input]])])
    return rows === null ? [] : planRows(nest, rows).steps
  }
  const belonging = pairs(relation.foreign, relation.local, own)
  const isMany = changeForms[part].of === 'children'
  if (member === 'update') {
    const key = isMany ? (rowChanges(nest.planner.visible, target)?.key ?? null) : null
    if (key === null) return [related(nest, target, path, { belonging, set: planSetOf(nest.planner, target, given) })]
    const slot: Slot = { kind: 'within', of: nest.objects, path }
    const rows = planRowSets(nest.planner, target, key, { items: objectsIn(given), slot, field: nest.key })
    return [related(nest, target, path, { belonging, rows, set: [] })]
  }
  const { presets } = presetsOf(nest.planner, target, 'update')
  const moved = member === 'connect' ? belonging : nullableColumns(target, relation.foreign).map(nowhere)
  const rest =
    member === 'delete'
      ? { belonging, set: null }
      : { belonging: member === 'connect' ? [] : belonging, set: presets ?? [], links: moved }
  if (given.kind === 'leaf') return [related(nest, target, path, rest)]
  return keysIn(nest, member, target, objectsIn(given)).map((columns) => {
    const step: readonly InputStep[] = [{ field, member, key: columns.map((column) => column.field) }]
    return related(nest, target, step, { ...rest, rows: { by: keyValues(nest, step, columns), set: [] } })
  })
}

function keysIn(
  nest: Nest,
  member: ChangeMember,
  target: EntityFacts,
  objects: readonly ObjectInput[],
): readonly (readonly LookupColumn[])[] {
  const keys = connectKeys(nest.planner.visible, target)
  const named = new Set(objects.map((object) => keyNamed(nest, member, object, keys)))
  return keys.filter((key) => named.has(key))
}

const nowhere = (column: string): RelatedStep['links'][number] => ({ column, from: null })

/** The step for the rows at a path of the input; rows without keys, related only by the row, are one step. */
function related(
  nest: Nest,
  entity: EntityFacts,
  path: readonly InputStep[],
  step: Pick<RelatedStep, 'belonging' | 'set'> & Partial<Pick<RelatedStep, 'rows' | 'links'>>,
): PlacedStep {
  const slot: Slot = { kind: 'within', of: nest.objects, path }
  return {
    links: [],
    rows: null,
    ...step,
    kind: 'related',
    id: nest.number(),
    entity,
    argument: argumentOf(nest, path),
    carried: [],
    given: step.rows === undefined ? 1 : { slot, encoding: { kind: 'count' } },
  }
}

const pairs = (here: readonly string[], there: readonly string[], step: number): readonly ColumnLink[] =>
  here.map((column, index) => ({ column, from: { step, column: there[index] ?? '' } }))
