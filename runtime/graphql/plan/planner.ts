import { getNamedType, GraphQLObjectType, type FieldNode, type GraphQLField, type GraphQLNamedType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { meaningOf, type WrapperMember } from '../../engine/meaning.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import { refuse } from '../protocol/failures.ts'
import { toInput, type Input } from './input.ts'
import { collectFields, setsOf, type Walk } from './selection.ts'
import type { Row, Typename } from './plan-nodes.ts'

/** A selected field with its definition, and the nodes that share its response key. */
export interface SelectedField {
  readonly kind: 'field'
  readonly key: string
  readonly field: GraphQLField<unknown, unknown>
  readonly nodes: readonly FieldNode[]
}

/** The context of every planning function: the caller's types and this request's variables. */
export interface Planner {
  readonly visible: RoleVisibility
  readonly walk: Walk
  readonly rowType: (name: string) => GraphQLObjectType
  /** The arguments of a field by name. */
  readonly args: (selected: SelectedField) => (name: string) => Input
  /** Counts one more condition on, or order by, related rows. @throws Refusal if there are too many */
  readonly countRelated: () => void
  /** The selected fields of an object, in response order. */
  readonly fieldsOf: (type: GraphQLObjectType, nodes: readonly FieldNode[]) => readonly (SelectedField | Typename)[]
  /** The object type that a field returns. */
  readonly objectType: (selected: SelectedField) => GraphQLObjectType
  /** Plans a row; it is a member because rows contain collections and collections contain rows. */
  readonly row: PlanRow
}

export type PlanRow = (planner: Planner, entity: EntityFacts, selected: SelectedField) => Row

/**
 * Selected objects after merging; each is a sub-select, and Postgres' planning time grows faster than their number:
 * this many take some seconds. No normal document selects as many.
 */
const maxObjects = 30_000

/**
 * Conditions on related rows and orders by them; each may become a join of one sub-select. Postgres' planning time
 * grows with their cube and cannot be interrupted: this many take less than a second, 2,000 take minutes.
 */
const maxRelated = 200

export function createPlanner(
  visible: RoleVisibility,
  walk: Walk,
  typeNamed: (name: string) => GraphQLNamedType | undefined,
  row: PlanRow,
): Planner {
  let objects = 0
  let related = 0
  const countObject = (): void => {
    objects += 1
    if (objects > maxObjects)
      throw refuse('DOCUMENT_TOO_LARGE', `The document selects more than ${maxObjects} objects.`)
  }
  return {
    countRelated: () => {
      related += 1
      if (related > maxRelated)
        throw refuse('DOCUMENT_TOO_LARGE', `Filters and orders ask for related rows more than ${maxRelated} times.`)
    },
    row,
    visible,
    walk,
    rowType: (name) => asObject(typeNamed(name), name),
    args: ({ field, nodes }) => {
      // Fields that share a response key have the same arguments; validation refuses others.
      const given = nodes[0]?.arguments ?? []
      const known = new Map(field.args.map((argument) => [argument.name, argument]))
      return (name) => {
        const argument = known.get(name)
        // The first one counts, as in the count of rows: two exist only with validation off (spec/graphql.md 11).
        const node = given.find((one) => one.name.value === name)?.value
        return argument === undefined ? { kind: 'absent' } : toInput(argument, node, walk.variables)
      }
    },
    fieldsOf: (type, nodes) => {
      countObject()
      return selectedFields(walk, type, nodes)
    },
    objectType: ({ field }) => asObject(getNamedType(field.type), field.name),
  }
}

function asObject(type: GraphQLNamedType | undefined, name: string): GraphQLObjectType {
  if (type instanceof GraphQLObjectType) return type
  throw new Error(`${name} is not an object type`)
}

function selectedFields(walk: Walk, type: GraphQLObjectType, nodes: readonly FieldNode[]) {
  const fields = type.getFields()
  return [...collectFields(walk, type, setsOf(nodes))].map(([key, same]): SelectedField | Typename => {
    const name = same[0]?.name.value ?? key
    if (name === '__typename') return { kind: 'typename', key, name: type.name }
    const field = fields[name]
    if (field === undefined) throw new Error(`the type ${type.name} has no field ${name}`)
    return { kind: 'field', key, field, nodes: same }
  })
}

/**
 * Plans the members of a type that wraps rows.
 *
 * @param planBetween plans the row through which an edge is reached; only edges have one
 */
export function planMembers<T>(
  planner: Planner,
  wrapper: SelectedField,
  plans: Readonly<Partial<Record<WrapperMember, (selected: SelectedField) => T>>>,
  planBetween?: (entity: EntityFacts, selected: SelectedField) => T,
): readonly (T | Typename)[] {
  const type = planner.objectType(wrapper)
  return planner.fieldsOf(type, wrapper.nodes).map((selected) => {
    if (selected.kind === 'typename') return selected
    const meaning = meaningOf(selected.field)
    if (meaning.kind === 'between' && planBetween !== undefined) return planBetween(meaning.entity, selected)
    const plan = meaning.kind === 'member' ? plans[meaning.member] : undefined
    if (plan === undefined) throw new Error(`${type.name}.${selected.field.name} is not a member`)
    return plan(selected)
  })
}
