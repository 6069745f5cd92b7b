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
import { hasRole, isSuperuser, type MembershipProof } from './memberships.ts'
import { currentCall, markExpression } from './version.ts'

/** What a statement is compared with. */
export interface Expected {
  /** A whole version, or its counter alone where nothing else of it is to be compared. */
  readonly version: string
  /** The value of the mark under which the counter holds; null: the check has to look. */
  readonly mark: string | null
  readonly privileges: RolePrivileges | undefined
  /** What proves them where their holders are many; null: none is known. */
  readonly proof: MembershipProof | null
  readonly condition: LastingCondition | undefined
  /** Under which a lasting condition was last seen to hold. */
  readonly snapshot: string
  /** Whether it still was the snapshot the last time. */
  readonly steady: boolean
}

const snapshotText = 'pg_catalog.pg_current_snapshot()::text'

/** The privileges of a role as the check compares them. */
interface PrivilegeCheck {
  /** SQL of conditions that are evaluated after the mark; null: there are none to rely on, and the holders have to be asked. */
  readonly conditions: Conditions | null
  /** For catalograph.current. */
  readonly holders: string
  readonly held: string
}

/** As many holders are asked for one by one, for a third of a microsecond each; a proof costs as much as twenty of them. */
const mostAsked = 24

const bypasses = `(select r.rolbypassrls from pg_catalog.pg_roles r where r.rolname = current_user)`

/** A superuser has every role. */
const asked = ({ role, superuser, holders, held }: RolePrivileges): readonly string[] => {
  if (superuser) return [isSuperuser(true)]
  const others = holders.filter((holder) => holder !== role)
  const has = others.map((other) => hasRole(`${literal(other)}::name`, held.has(other)))
  // A role that it does not have shows that it is no superuser.
  return others.some((other) => !held.has(other)) ? has : [isSuperuser(false), ...has]
}

/** Of a superuser nothing has to be proved: it has every role. */
export const needsProof = ({ superuser, holders }: RolePrivileges): boolean => !superuser && holders.length > mostAsked

const conditionsOf = (privileges: RolePrivileges, proof: MembershipProof | null): Conditions | null => {
  const memberships = needsProof(privileges) ? proof?.conditions : asked(privileges)
  if (memberships === undefined) return null
  const { bypassRls } = privileges
  return conditions(bypassRls === undefined ? memberships : [...memberships, `${bypasses} = ${bypassRls}`])
}

/** SQL that goes on after another condition, and what tells the names of statements with it apart. */
interface Conditions {
  readonly nameSuffix: string
  readonly sql: string
}

const conditions = (all: readonly string[]): Conditions => {
  const sql = all.map((text) => ` and ${text}`).join('')
  return { nameSuffix: `.${sha256Hex(sql).slice(0, 8)}`, sql }
}

const checkOf = (privileges: RolePrivileges, proof: MembershipProof | null): PrivilegeCheck => {
  const { superuser, bypassRls, holders, held } = privileges
  const each = holders.map((holder) => (held.has(holder) ? '1' : '0')).join('')
  return {
    conditions: conditionsOf(privileges, proof),
    holders: holdersText(holders),
    held: `${superuser ? 'on' : 'off'}${each}${bypassRls === undefined ? '' : ` ${bypassRls}`}`,
  }
}

const textsOfHolders = new WeakMap<readonly string[], string>()

/** All roles of a schema share it. */
const holdersText = (holders: readonly string[]): string => {
  const text = textsOfHolders.get(holders) ?? arrayText(holders)
  textsOfHolders.set(holders, text)
  return text
}

const noConditions: Conditions = { nameSuffix: '', sql: '' }
const noCheck: PrivilegeCheck = { conditions: noConditions, holders: '', held: '' }
const checks = new WeakMap<RolePrivileges, { readonly proof: MembershipProof | null; readonly check: PrivilegeCheck }>()

const privilegeCheck = (privileges: RolePrivileges | undefined, proof: MembershipProof | null): PrivilegeCheck => {
  if (privileges === undefined) return noCheck
  const known = checks.get(privileges)
  if (known?.proof === proof) return known.check
  const check = checkOf(privileges, proof)
  checks.set(privileges, { proof, check })
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
  { sql }: Conditions,
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
  privileges: Conditions,
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
  const { version, privileges, condition, snapshot } = expected
  const check = privilegeCheck(privileges, expected.proof)
  const mark = check.conditions === null ? null : expected.mark
  const form = formOf({ ...expected, mark }, readOnly)
  const { name, text } = carrierOf(carriers, statement, check.conditions ?? noConditions, condition, form)
  const { returnsSnapshot } = form
  if (form.relies === 'on the snapshot')
    return { name, text, values: statement.values.concat(snapshot), returnsSnapshot }
  const holders = privileges === undefined ? [null, null] : [check.holders, check.held]
  const all = statement.values.concat(form.relies === 'on the mark' ? [mark] : [mark, version, ...holders])
  const values = condition === undefined ? all : all.concat(snapshot, condition.values)
  return { name, text, values, returnsSnapshot }
}
