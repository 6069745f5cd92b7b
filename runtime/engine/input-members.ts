import type { EntityFacts } from '../contract/manifest.ts'
import type { RoleVisibility } from './view.ts'
import { byField } from './visible.ts'

/** A member that an addition (spec/graphql.md 17) gives filters or orders. Later stages declare what they need of one. */
export interface FilterMember {}
export interface OrderMember {}

type Members<Member> = readonly (readonly [name: string, member: Member])[]

declare module './additions.ts' {
  interface SchemaAddition {
    /** Members of the filter, of the order of a relation; columns, operators and earlier additions keep their names. */
    readonly filterMembers?: (visible: RoleVisibility, entity: EntityFacts) => Members<FilterMember>
    readonly orderMembers?: (visible: RoleVisibility, entity: EntityFacts) => Members<OrderMember>
  }
}

function membersBut<Member>(taken: Iterable<string>, members: Members<Member>): ReadonlyMap<string, Member> {
  const gone = new Set(taken)
  return new Map(members.filter(([name]) => !gone.has(name) && gone.add(name)))
}

const operators = ['nodeId', 'and', 'or', 'not']

export const filterMembers = (visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, FilterMember> =>
  membersBut(
    [...byField(visible.filterable(entity)).keys(), ...operators],
    visible.additions.flatMap((one) => one.filterMembers?.(visible, entity) ?? []),
  )

export const orderMembers = (visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, OrderMember> =>
  membersBut(
    byField(visible.orderable(entity)).keys(),
    visible.additions.flatMap((one) => one.orderMembers?.(visible, entity) ?? []),
  )
