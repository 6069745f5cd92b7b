import type { OrderKey, OrderTerm, RelatedKey } from '../plan/types.ts'
import { keyId, stepId } from './order.ts'
import { directScope, joined, type Ordered, type Scope, type Writer } from './source.ts'

/** Rows that are sorted by rows that are related to them (section 17, `orderByRelated`). */
export interface Joined {
  readonly scope: Scope
  /** What follows the rows in FROM. */
  readonly joins: string
}

/** The rows in scope with everything joined that the order asks of related rows. Each row stays one row. */
export function joinRelated(writer: Writer, scope: Scope, order: readonly OrderTerm[]): Joined {
  const related = order.flatMap(({ column }) => (typeof column === 'string' ? [] : [column]))
  if (related.length === 0) return { scope, joins: '' }
  const joins: string[] = []
  const rows = new Map<string, Place>()
  const found = new Map<string, Ordered>()

  /** Rows that several keys lead to are joined once. */
  const rowOf = (key: Extract<RelatedKey, { kind: 'one' }>, here: Place): Place => {
    const path = here.path + stepId(key)
    const known = rows.get(path)
    if (known !== undefined) return known
    const there = directScope(writer, key.entity, writer.alias('t'))
    const always = here.present === null && key.always
    const on = joined(key.join, here.scope, there)
    joins.push(` ${always ? 'join' : 'left join'} ${there.builder.relation} ${there.alias} on ${on}`)
    // A row that was found has values where it was found by them.
    const present = always ? null : `${there.column(key.join.foreign[0] ?? '')} is not null`
    const place = { scope: there, path, present }
    rows.set(path, place)
    return place
  }
  const countOf = (key: Extract<RelatedKey, { kind: 'count' }>, { scope: here, present }: Place): Ordered => {
    const there = directScope(writer, key.entity, writer.alias('t'))
    const alias = writer.alias('n')
    const condition = joined(key.join, here, there)
    const counted = `(select count(*) as n from ${there.builder.relation} ${there.alias} where ${condition})`
    joins.push(` left join lateral ${counted} ${alias} on ${present ?? 'true'}`)
    return { ...counts, value: `${alias}.n`, notNull: present === null }
  }
  const resolve = (key: OrderKey, here: Place): Ordered => {
    if (typeof key !== 'string') return key.kind === 'count' ? countOf(key, here) : resolve(key.of, rowOf(key, here))
    const element = here.scope.ordered(key)
    return { ...element, notNull: element.notNull && here.present === null }
  }
  for (const key of related) {
    if (!found.has(keyId(key))) found.set(keyId(key), resolve(key, { scope, path: '', present: null }))
  }
  const ordered = (key: OrderKey): Ordered =>
    (typeof key === 'string' ? undefined : found.get(keyId(key))) ?? scope.ordered(key)
  return { scope: { ...scope, ordered }, joins: joins.join('') }
}

/** A row on the way to what is asked of it. */
interface Place {
  readonly scope: Scope
  readonly path: string
  /** The condition that there is such a row; null where there always is. */
  readonly present: string | null
}

const counts: Omit<Ordered, 'value' | 'notNull'> = {
  isArray: false,
  operand: (parameter) => `${parameter}::int8`,
  cursor: (value) => value,
}
