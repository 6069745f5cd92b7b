import {
  getNamedType,
  GraphQLObjectType,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  Kind,
  type DirectiveNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { meaningOf, type WrapperMember } from '../../engine/meaning.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import { refuse, badArgument } from '../protocol/failures.ts'
import { toInput, type Input, type Variables } from './input.ts'
import type { Row, Typename } from './plan-nodes.ts'

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
  readonly args: (selected: SelectedField) => (name: string) => Input
  /** Counts one more condition on, or order by, related rows. @throws Refusal if there are too many */
  readonly countRelated: () => void
  /** The selected fields of an object, in response order. */
  readonly fieldsOf: (type: GraphQLObjectType, nodes: readonly FieldNode[]) => readonly (SelectedField | Typename)[]
  readonly objectType: (selected: SelectedField) => GraphQLObjectType
  /** Plans a row; it is a member because rows contain collections and collections contain rows. */
  readonly row: PlanRow
}

type PlanRow = (planner: Planner, entity: EntityFacts, selected: SelectedField) => Row

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

/** The facts about an operation that collecting selections needs. */
export interface Walk {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly variables: Variables
  /** Whether the type belongs to an interface or union of this name. */
  readonly covers: (abstract: string, type: GraphQLObjectType) => boolean
}

/**
 * The fields selected on an object, by response key in document order (GraphQL specification 6.3.2), after @skip and
 * @include and with fragments expanded.
 */
export function collectFields(
  walk: Walk,
  type: GraphQLObjectType,
  sets: readonly (SelectionSetNode | undefined)[],
): ReadonlyMap<string, readonly FieldNode[]> {
  const fields = new Map<string, FieldNode[]>()
  const visited = new Set<string>()
  const applies = (condition: string | undefined): boolean =>
    condition === undefined || condition === type.name || walk.covers(condition, type)

  const visit = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      if (!isIncluded(walk, selection.directives ?? [])) continue
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value
        const known = fields.get(key)
        if (known === undefined) fields.set(key, [selection])
        else known.push(selection)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (applies(selection.typeCondition?.name.value)) visit(selection.selectionSet)
      } else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value)
        const fragment = walk.fragments.get(selection.name.value)
        if (fragment !== undefined && applies(fragment.typeCondition.name.value)) visit(fragment.selectionSet)
      }
    }
  }
  for (const set of sets) if (set !== undefined) visit(set)
  return fields
}

function isIncluded(walk: Walk, directives: readonly DirectiveNode[]): boolean {
  return directives.every((directive) => {
    const name = directive.name.value
    if (name !== 'skip' && name !== 'include') return true
    const holds = condition(walk, directive)
    return name === 'skip' ? !holds : holds
  })
}

function condition(walk: Walk, directive: DirectiveNode): boolean {
  const node = directive.arguments?.find((argument) => argument.name.value === 'if')?.value
  const value =
    node?.kind === Kind.VARIABLE
      ? walk.variables.values[node.name.value]
      : node?.kind === Kind.BOOLEAN
        ? node.value
        : undefined
  if (typeof value === 'boolean') return value
  throw badArgument(`Value for "if" in @${directive.name.value} directive is required`)
}

/** The selection sets of fields that share a response key; they are merged. */
const setsOf = (nodes: readonly FieldNode[]): readonly (SelectionSetNode | undefined)[] =>
  nodes.map((node) => node.selectionSet)
