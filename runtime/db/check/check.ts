import type {
  BoundStatement,
  LastingCondition,
  OpenStatement,
  PreparedText,
  RolePrivileges,
} from '../../contract/execution.ts'
import { arrayText } from '../../sql/array-text.ts'
import { literal } from '../../sql/literal.ts'
import { extended } from '../../sql/print.ts'
import { createLru, type Lru } from '../../lib/lru.ts'
import { sha256Hex } from '../../lib/sha256.ts'
import { currentCall, markExpression } from './version.ts'

/** What a statement is compared with. */
export interface Expected {
  /** A whole version, or its counter alone where nothing else of it is to be compared. */
  readonly version: string
  /** The value of the mark under which the counter holds; null: the check has to look. */
  readonly mark: string | null
  readonly privileges: RolePrivileges | undefined
  readonly condition: LastingCondition | undefined
  /** Under which a lasting condition was last seen to hold. */
  readonly snapshot: string
  /** Whether it still was the snapshot the last time. */
  readonly steady: boolean
}

const snapshotText = 'pg_catalog.pg_current_snapshot()::text'

/** The privileges of a role as the check compares them. */
interface PrivilegeCheck {
  /** Distinguishes the names of statements with different `sql`. */
  readonly nameSuffix: string
  /** SQL of type boolean, evaluated after the mark: half a microsecond for each holder. */
  readonly sql: string
  /** For catalograph.current. */
  readonly holders: string
  readonly held: string
}

const hasRole = (role: string, held: boolean): string =>
  `${held ? '' : 'not '}pg_catalog.pg_has_role(${literal(role)}::name, 'USAGE')`

const bypasses = `(select r.rolbypassrls from pg_catalog.pg_roles r where r.rolname = current_user)`

const checkOf = ({ superuser, bypassRls, grantHolders: holders }: RolePrivileges): PrivilegeCheck => {
  const is = superuser ? 'on' : 'off'
  // A superuser has every role, so a role that it does not have shows that it is no superuser.
  const isNoSuperuser = holders.some(({ held }) => !held)
  const superuserSql = isNoSuperuser ? [] : [`pg_catalog.current_setting('is_superuser') = '${is}'`]
  const bypassSql = bypassRls === undefined ? [] : [`${bypasses} = ${bypassRls}`]
  const sql = [...superuserSql, ...holders.map(({ role, held }) => hasRole(role, held)), ...bypassSql]
    .map((text) => ` and ${text}`)
    .join('')
  return {
    nameSuffix: `.${sha256Hex(sql).slice(0, 8)}`,
    sql,
    holders: arrayText(holders.map(({ role }) => role)),
    held: `${is}${holders.map(({ held }) => (held ? '1' : '0')).join('')}${bypassRls === undefined ? '' : ` ${bypassRls}`}`,
  }
}

const noCheck: PrivilegeCheck = { nameSuffix: '', sql: '', holders: '', held: '' }
const checks = new WeakMap<RolePrivileges, PrivilegeCheck>()

const privilegeCheck = (privileges: RolePrivileges | undefined): PrivilegeCheck => {
  if (privileges === undefined) return noCheck
  const known = checks.get(privileges)
  if (known !== undefined) return known
  const check = checkOf(privileges)
  checks.set(privileges, check)
  return check
}

/** A form of the check. A statement that relies on a mark or a snapshot returns no row where that has changed. */
interface Form {
  /** Distinguishes the names of statements with different forms. */
  readonly nameSuffix: string
  /** The number of its own parameters, before those of a condition. */
  readonly parameters: 1 | 4
  readonly relies: 'on nothing' | 'on the mark' | 'on the snapshot'
  /** Its last column is the snapshot, or null where that is the one of its parameter. */
  readonly returnsSnapshot: boolean
}

const forms = {
  counter: { nameSuffix: '.l', parameters: 4, relies: 'on nothing', returnsSnapshot: false },
  counterAndSnapshot: { nameSuffix: '.lt', parameters: 4, relies: 'on nothing', returnsSnapshot: true },
  mark: { nameSuffix: '.m', parameters: 1, relies: 'on the mark', returnsSnapshot: false },
  markAndSnapshot: { nameSuffix: '.mt', parameters: 1, relies: 'on the mark', returnsSnapshot: true },
  snapshot: { nameSuffix: '.s', parameters: 1, relies: 'on the snapshot', returnsSnapshot: false },
} as const satisfies Readonly<Record<string, Form>>

/**
 * A reading statement under a lasting condition reports its snapshot; a writing statement invalidates the snapshot that
 * it saw.
 */
const formOf = ({ mark, condition, steady }: Expected, readOnly: boolean): Form => {
  if (steady && readOnly) return forms.snapshot
  const returnsSnapshot = readOnly && condition !== undefined && condition.lasting !== null
  if (mark === null || !readOnly) return returnsSnapshot ? forms.counterAndSnapshot : forms.counter
  return returnsSnapshot ? forms.markAndSnapshot : forms.mark
}

/**
 * The version check is a condition of the request's own statement, which Postgres evaluates once and before anything
 * else of it, under the statement's snapshot. That is taken when the statement is planned and its relations are locked:
 * what changes the schema either shows in this snapshot, and the statement fails and does nothing, or comes after all that
 * it reads.
 *
 * Where the mark is the one under which the counter is known to hold (schema-marks.ts), comparing the mark suffices, for a
 * tenth of the cost of the counter. A reading statement then compares nothing else, and returns no row where the mark is
 * another one: a call of catalograph.current in the statement costs something even if it is not evaluated. A statement that
 * writes would write nevertheless.
 *
 * Two snapshots with the same text see the same (manual 9.26.8): if no transaction that wrote anything has ended since a
 * lasting condition last held on this connection, the condition still holds, and the schema is the same. A statement whose
 * snapshot was the same the last time compares only that.
 */
const checkedText = (
  { text, values }: OpenStatement,
  { sql }: PrivilegeCheck,
  condition: LastingCondition | undefined,
  form: Form,
): string => {
  const parameter = (place: number): string => `$${values.length + place}`
  if (form.relies === 'on the snapshot') return extended(text, [], `${snapshotText} = ${parameter(1)}::text`)
  const marked = `${markExpression} = ${parameter(1)}::bigint${sql}`
  const call = currentCall(`${parameter(2)}::text`, `${parameter(3)}::text`, `${parameter(4)}::text`)
  const current = form.relies === 'on the mark' ? marked : `case when ${marked} then true else ${call} end`
  if (condition === undefined) return extended(text, [], current)
  const last = `${parameter(form.parameters + 1)}::text`
  const snapshotColumn = form.returnsSnapshot
    ? [`case when ${snapshotText} = ${last} then null else ${snapshotText} end`]
    : []
  const holds = `case when ${snapshotText} = ${last} then true else ${condition.sql(values.length + form.parameters + 2)} end`
  return extended(text, snapshotColumn, `case when ${current} then ${holds} end`)
}

/** In characters, of some hundred statements that run again and again. */
const keptTexts = 1_000_000

/** By the name of the statement and the suffixes of form, privileges and condition. */
type Carriers = Lru<string, PreparedText>

/** The statement together with the check, prepared under a name of its own. */
const carrierOf = (
  carriers: Carriers,
  statement: OpenStatement,
  privileges: PrivilegeCheck,
  condition: LastingCondition | undefined,
  form: Form,
): PreparedText => {
  const name =
    form.relies === 'on the snapshot'
      ? statement.name + form.nameSuffix
      : `${statement.name}${form.nameSuffix}${privileges.nameSuffix}${condition?.nameSuffix ?? ''}`
  const known = carriers.get(name)
  if (known !== undefined) return known
  const made = { name, text: checkedText(statement, privileges, condition, form) }
  carriers.set(name, made)
  return made
}

/** A statement with its check, and whether its last column is a snapshot. */
export type Carrier = BoundStatement & { readonly returnsSnapshot?: boolean }

/** Puts the check into a statement. */
export type AddCheck = (statement: OpenStatement, expected: Expected, readOnly: boolean) => Carrier

export const createAddCheck = (): AddCheck => {
  const carriers: Carriers = createLru(keptTexts, ({ text }) => text.length)
  return (statement, expected, readOnly) => withCheck(carriers, statement, expected, readOnly)
}

const withCheck = (carriers: Carriers, statement: OpenStatement, expected: Expected, readOnly: boolean): Carrier => {
  const { version, mark, privileges, condition, snapshot } = expected
  const check = privilegeCheck(privileges)
  const form = formOf(expected, readOnly)
  const { name, text } = carrierOf(carriers, statement, check, condition, form)
  const { returnsSnapshot } = form
  if (form.relies === 'on the snapshot')
    return { name, text, values: statement.values.concat(snapshot), returnsSnapshot }
  const holders = privileges === undefined ? [null, null] : [check.holders, check.held]
  const all = statement.values.concat(form.relies === 'on the mark' ? [mark] : [mark, version, ...holders])
  const values = condition === undefined ? all : all.concat(snapshot, condition.values)
  return { name, text, values, returnsSnapshot }
}
