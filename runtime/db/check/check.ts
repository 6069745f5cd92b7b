import type {
  BoundStatement,
  ExchangeCondition,
  OpenStatement,
  PreparedText,
  RolePrivileges,
} from '../../contract/execution.ts'
import { arrayText } from '../../sql/array-text.ts'
import { literal } from '../../sql/tree.ts'
import { extended } from '../../sql/print.ts'
import { createLru, type Lru } from '../../lib/caches.ts'
import { sha256Hex } from '../../lib/text.ts'
import { currentCall, markExpression } from './version.ts'

/** The expected state of the schema. */
export interface Expected {
  /** A whole version, or its counter alone where nothing else of it is to be compared. */
  readonly version: string
  /** The value of the mark under which the counter holds; null: the counter is compared. */
  readonly mark: string | null
  readonly privileges: RolePrivileges | undefined
  readonly condition: ExchangeCondition | undefined
}

/** The privileges of a role as the check compares them. */
interface PrivilegeCheck {
  /** SQL of conditions beside the mark; null: there are too many, and catalograph.current compares them. */
  readonly conditions: Conditions | null
  /** For catalograph.current. */
  readonly holders: string
  readonly held: string
}

/** SQL that goes on after another condition, and the suffix of the names of statements with it. */
interface Conditions {
  readonly nameSuffix: string
  readonly sql: string
}

/** A connection keeps hundreds of statements prepared, which each have these conditions: more would fill its memory. */
const mostConditions = 24

const bypasses = `(select r.rolbypassrls from pg_catalog.pg_roles r where r.rolname = current_user)`

const isSuperuser = `pg_catalog.current_setting('is_superuser') =`

/** A superuser has every role. */
const memberships = ({ role, superuser, holders, held }: RolePrivileges): readonly string[] => {
  if (superuser) return [`${isSuperuser} 'on'`]
  const others = holders.filter((holder) => holder !== role)
  const has = others.map(
    (other) => `${held.has(other) ? '' : 'not '}pg_catalog.pg_has_role(${literal(other)}::name, 'USAGE')`,
  )
  // A superuser passes each test of pg_has_role: one that fails proves a role without that attribute.
  return others.some((other) => !held.has(other)) ? has : [`${isSuperuser} 'off'`, ...has]
}

const conditionsOf = (privileges: RolePrivileges): Conditions | null => {
  const asked = memberships(privileges)
  if (asked.length > mostConditions) return null
  const { bypassRls } = privileges
  const sql = ['', ...asked, ...(bypassRls === undefined ? [] : [`${bypasses} = ${bypassRls}`])].join(' and ')
  return { nameSuffix: `.${sha256Hex(sql).slice(0, 8)}`, sql }
}

const textsOfHolders = new WeakMap<readonly string[], string>()

/** All roles of a schema share it. */
const holdersText = (holders: readonly string[]): string => {
  const text = textsOfHolders.get(holders) ?? arrayText(holders)
  textsOfHolders.set(holders, text)
  return text
}

const checkOf = (privileges: RolePrivileges): PrivilegeCheck => {
  const { superuser, bypassRls, holders, held } = privileges
  const each = holders.map((holder) => (held.has(holder) ? '1' : '0')).join('')
  return {
    conditions: conditionsOf(privileges),
    holders: holdersText(holders),
    held: `${superuser ? 'on' : 'off'}${each}${bypassRls === undefined ? '' : ` ${bypassRls}`}`,
  }
}

const noConditions: Conditions = { nameSuffix: '', sql: '' }
const noCheck: PrivilegeCheck = { conditions: noConditions, holders: '', held: '' }
const checks = new WeakMap<RolePrivileges, PrivilegeCheck>()

const privilegeCheck = (privileges: RolePrivileges | undefined): PrivilegeCheck => {
  if (privileges === undefined) return noCheck
  const check = checks.get(privileges) ?? checkOf(privileges)
  checks.set(privileges, check)
  return check
}

/** The form of a check: the suffix of the names of its statements, and the number of its parameters before those of a condition. */
interface Form {
  readonly nameSuffix: string
  readonly parameters: 1 | 4
}

/** A statement that compares the mark alone returns no row where that has changed. */
const forms = {
  mark: { nameSuffix: '.m', parameters: 1 },
  counter: { nameSuffix: '.l', parameters: 4 },
} as const satisfies Readonly<Record<string, Form>>

/**
 * The version check is a condition of the request's own statement, which Postgres evaluates once and before anything
 * else of it, under the statement's snapshot. That is taken when the statement is planned and its relations are locked:
 * what changes the schema either shows in this snapshot, and the statement fails and does nothing, or comes after all that
 * it reads.
 *
 * Where the mark is the one under which the counter is known to hold (schema-marks.ts), comparing the mark suffices, for a
 * tenth of the cost of the counter. A reading statement then compares nothing else, and returns no row where the mark has
 * changed: a call of catalograph.current in the statement costs something even if it is not evaluated. A statement that
 * writes would write nevertheless.
 */
const checkedText = (
  { text, values }: OpenStatement,
  { sql }: Conditions,
  condition: ExchangeCondition | undefined,
  form: Form,
): string => {
  const parameter = (place: number): string => `$${values.length + place}`
  const marked = `${markExpression} = ${parameter(1)}::bigint${sql}`
  const call = currentCall(`${parameter(2)}::text`, `${parameter(3)}::text`, `${parameter(4)}::text`)
  const current = form === forms.mark ? marked : `case when ${marked} then true else ${call} end`
  const place = values.length + form.parameters + 1
  return extended(text, [], condition === undefined ? current : `case when ${current} then ${condition.sql(place)} end`)
}

/** In characters, of some hundred statements that run again and again. */
const keptTexts = 1_000_000

/** By the name of the statement and the suffixes of form, privileges and condition. */
type Carriers = Lru<string, PreparedText>

/** The statement together with the check, prepared under a name of its own. */
const carrierOf = (
  carriers: Carriers,
  statement: OpenStatement,
  privileges: Conditions,
  condition: ExchangeCondition | undefined,
  form: Form,
): PreparedText => {
  const name = `${statement.name}${form.nameSuffix}${privileges.nameSuffix}${condition?.nameSuffix ?? ''}`
  const known = carriers.get(name)
  if (known !== undefined) return known
  const made = { name, text: checkedText(statement, privileges, condition, form) }
  carriers.set(name, made)
  return made
}

/** Puts the check into a statement. */
export type AddCheck = (statement: OpenStatement, expected: Expected, readOnly: boolean) => BoundStatement

export const createAddCheck = (): AddCheck => {
  const carriers: Carriers = createLru(keptTexts, ({ text }) => text.length)
  return (statement, { version, mark, privileges, condition }, readOnly) => {
    const { conditions, holders, held } = privilegeCheck(privileges)
    const relied = conditions === null ? null : mark
    const form = relied !== null && readOnly ? forms.mark : forms.counter
    const { name, text } = carrierOf(carriers, statement, conditions ?? noConditions, condition, form)
    const facts = privileges === undefined ? [null, null] : [holders, held]
    const values = statement.values.concat(form === forms.mark ? [relied] : [relied, version, ...facts])
    return { name, text, values: condition === undefined ? values : values.concat(condition.values) }
  }
}
