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

/** A privileges in the words in which Postgres is asked. */
interface Words {
  /** Tells its SQL from that of others. */
  readonly mark: string
  /** SQL of type boolean, asked after the mark; null: there are too many holders, so that it is looked at as a whole. */
  readonly sql: string | null
  /** For catalograph.current. */
  readonly holders: string
  readonly held: string
}

/** Postgres is asked for each of them, in half a microsecond. */
const mostHolders = 12

const hasRole = (role: string, held: boolean): string =>
  `${held ? '' : 'not '}pg_catalog.pg_has_role(${literal(role)}::name, 'USAGE')`

const wordsOf = ({ superuser, grantHolders: holders }: RolePrivileges): Words => {
  const is = superuser ? 'on' : 'off'
  // A superuser has every role: one that the role has not shows that it is none.
  const isPlain = holders.some(({ held }) => !held)
  const asked = isPlain ? [] : [`pg_catalog.current_setting('is_superuser') = '${is}'`]
  const sql = [...asked, ...holders.map(({ role, held }) => hasRole(role, held))].map((text) => ` and ${text}`).join('')
  return {
    mark: `.${sha256Hex(sql).slice(0, 8)}`,
    sql: holders.length > mostHolders ? null : sql,
    holders: arrayText(holders.map(({ role }) => role)),
    held: is + holders.map(({ held }) => (held ? '1' : '0')).join(''),
  }
}

const noWords: Words = { mark: '', sql: '', holders: '', held: '' }
const words = new WeakMap<RolePrivileges, Words>()

const inSql = (privileges: RolePrivileges | undefined): Words => {
  if (privileges === undefined) return noWords
  const known = words.get(privileges)
  if (known !== undefined) return known
  const made = wordsOf(privileges)
  words.set(privileges, made)
  return made
}

/** What a check is made of. A statement that relies on something has no row where that has changed. */
interface Form {
  /** Tells its SQL from that of others. */
  readonly mark: string
  /** How many parameters it has of its own, before those of a condition. */
  readonly parameters: 1 | 4
  readonly relies: 'on nothing' | 'on the mark' | 'on the snapshot'
  /** Its last column is the snapshot, or null where that is the one that it is given. */
  readonly tells: boolean
}

const forms = {
  looking: { mark: '.l', parameters: 4, relies: 'on nothing', tells: false },
  lookingTelling: { mark: '.lt', parameters: 4, relies: 'on nothing', tells: true },
  marked: { mark: '.m', parameters: 1, relies: 'on the mark', tells: false },
  markedTelling: { mark: '.mt', parameters: 1, relies: 'on the mark', tells: true },
  steady: { mark: '.s', parameters: 1, relies: 'on the snapshot', tells: false },
} as const satisfies Readonly<Record<string, Form>>

/**
 * A reading statement under a lasting condition reports its snapshot; a writing statement invalidates the snapshot that
 * it saw.
 */
const formOf = ({ mark, condition, steady }: Expected, readOnly: boolean): Form => {
  if (steady && readOnly) return forms.steady
  const tells = readOnly && condition !== undefined && condition.lasting !== null
  if (mark === null || !readOnly) return tells ? forms.lookingTelling : forms.looking
  return tells ? forms.markedTelling : forms.marked
}

/**
 * The version check is a condition of the request's own statement, which Postgres evaluates once and before anything
 * else of it, under the statement's snapshot. That is taken when the statement is planned and its relations are locked:
 * what changes the schema either shows in this snapshot, and the statement fails and does nothing, or comes after all that
 * it reads.
 *
 * Where the mark is the one under which the counter is known to hold (schema-marks.ts), that is all there is to find out about
 * it, for a tenth of what looking costs. A reading statement asks for nothing else then, and has no row where the mark is
 * another one: to call the function that looks costs something even where it is not called. One that writes would
 * write nevertheless.
 *
 * What two snapshots with the same text see is the same (manual 9.26.8): as long as no transaction that wrote anything
 * has ended since a lasting condition was last seen to hold on this connection, it still does, and so does all else. Where that
 * was so the last time, it is all that is asked.
 */
const checkedText = (
  { text, values }: OpenStatement,
  { sql }: Words,
  condition: LastingCondition | undefined,
  form: Form,
): string => {
  const parameter = (place: number): string => `$${values.length + place}`
  if (form.relies === 'on the snapshot') return extended(text, [], `${snapshotText} = ${parameter(1)}::text`)
  const marked = `${markExpression} = ${parameter(1)}::bigint${sql ?? ' and false'}`
  const look = currentCall(`${parameter(2)}::text`, `${parameter(3)}::text`, `${parameter(4)}::text`)
  const current = form.relies === 'on the mark' ? marked : `case when ${marked} then true else ${look} end`
  if (condition === undefined) return extended(text, [], current)
  const last = `${parameter(form.parameters + 1)}::text`
  const told = form.tells ? [`case when ${snapshotText} = ${last} then null else ${snapshotText} end`] : []
  const asked = `case when ${snapshotText} = ${last} then true else ${condition.sql(values.length + form.parameters + 2)} end`
  return extended(text, told, `case when ${current} then ${asked} end`)
}

/** In characters, of some hundred statements that are asked again and again. */
const keptTexts = 1_000_000

/** By the names of the statements that they are made of, and the marks of forms, privilegesByRole and conditions. */
type Carriers = Lru<string, PreparedText>

/** The statement together with the check, prepared under a name of its own. */
const carrierOf = (
  carriers: Carriers,
  statement: OpenStatement,
  words: Words,
  condition: LastingCondition | undefined,
  form: Form,
): PreparedText => {
  const name =
    form.relies === 'on the snapshot'
      ? statement.name + form.mark
      : `${statement.name}${form.mark}${words.mark}${condition?.nameSuffix ?? ''}`
  const known = carriers.get(name)
  if (known !== undefined) return known
  const made = { name, text: checkedText(statement, words, condition, form) }
  carriers.set(name, made)
  return made
}

/** A statement with its check, and whether its last column is a snapshot. */
export type Carrier = BoundStatement & { readonly tells?: boolean }

/** Puts the check into a statement. */
export type AddCheck = (statement: OpenStatement, expected: Expected, readOnly: boolean) => Carrier

export const createAddCheck = (): AddCheck => {
  const carriers: Carriers = createLru(keptTexts, ({ text }) => text.length)
  return (statement, expected, readOnly) => withCheck(carriers, statement, expected, readOnly)
}

const withCheck = (carriers: Carriers, statement: OpenStatement, expected: Expected, readOnly: boolean): Carrier => {
  const { version, mark, privileges, condition, snapshot } = expected
  const words = inSql(privileges)
  const form = formOf(expected, readOnly)
  const { name, text } = carrierOf(carriers, statement, words, condition, form)
  const { tells } = form
  if (form.relies === 'on the snapshot') return { name, text, values: statement.values.concat(snapshot), tells }
  const looked = privileges === undefined ? [null, null] : [words.holders, words.held]
  const all = statement.values.concat(form.relies === 'on the mark' ? [mark] : [mark, version, ...looked])
  const values = condition === undefined ? all : all.concat(snapshot, condition.values)
  return { name, text, values, tells }
}
