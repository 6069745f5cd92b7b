import type { JsonObject } from '../../lib/json.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'

/** For larger lists the length is the estimate of Postgres: counting would take longer than the page. */
const countedTo = 1_000_000

/** The length of a list of all rows of a table with a condition that nearly all rows meet (spec/auth.md 11). */
export const listLength = (table: string, condition: string): string =>
  `select case when c.reltuples > ${countedTo} then c.reltuples::float8
    else (select count(*) from ${table} where ${condition})::float8 end as total
  from pg_catalog.pg_class c where c.oid = '${table}'::pg_catalog.regclass`

/** A column of metadata as an object: imported rows may contain null, or JSON's null (spec/auth.md 13). */
export const objectIn = (column: string): string =>
  `case jsonb_typeof(${column}) when 'object' then ${column} else '{}' end`

/**
 * Lists within a row are subqueries whose columns have the names of the members: json_build_object takes longer,
 * because it looks up the type of every member for each row.
 */
const jsonListOf = (query: string): string => `coalesce((select json_agg(x) from (${query}) x), '[]')`

const identities = jsonListOf(`select i.id, i.provider_id, i.user_id, i.identity_data, i.provider, i.last_sign_in_at,
      i.created_at, i.updated_at, i.email
    from auth.identities i where i.user_id = u.id`)

const factors = jsonListOf(`select f.id, f.friendly_name, f.factor_type, f.status, f.created_at, f.updated_at
    from auth.mfa_factors f where f.user_id = u.id`)

const methods =
  jsonListOf(`select c.authentication_method as method, extract(epoch from c.updated_at)::bigint as timestamp
    from auth.mfa_amr_claims c where c.session_id = s.id order by c.updated_at desc, c.authentication_method`)

/**
 * The columns of a UserRow, for a query with auth.users as `u`. Identities and factors are unordered: two sorts in
 * every statement would cost more than sorting the few where needed; see rules/user-json.ts.
 */
export const userColumns = `u.id, u.aud, u.role, u.email, u.phone, u.encrypted_password,
    u.email_confirmed_at, u.phone_confirmed_at, u.confirmed_at, u.invited_at, u.confirmation_sent_at,
    u.recovery_sent_at, u.email_change, u.email_change_sent_at, u.email_change_confirm_status, u.phone_change,
    u.phone_change_sent_at, u.reauthentication_sent_at, u.last_sign_in_at, u.raw_app_meta_data, u.raw_user_meta_data,
    u.created_at, u.updated_at, u.banned_until, coalesce(u.banned_until > now(), false) as banned,
    u.deleted_at, u.is_anonymous, ${identities} as identities, ${factors} as factors`

/** The columns of a SessionRow, for a query with auth.sessions as `s`. */
export const sessionColumns = `s.id, s.user_id, s.aal, s.factor_id,
    extract(epoch from now() - s.created_at)::float8 as age`

export const signedColumns = `${sessionColumns}, ${methods} as amr`

/** The rows of a query, each as one JSON value, column `row`: printed, sent and parsed in less time than a column for each member. */
export const asJson = (query: string): string => `select to_json(x) as row from (${query}) x`

/** A change of metadata in the form of its merge: the keys that are set, and the names of those with null. */
export function mergeValues(data: JsonObject): readonly [JsonObject, readonly string[]] {
  const kept = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
  return [kept, Object.keys(data).filter((key) => data[key] === null)]
}

/** Statements as functions of their runner and their parameters' values in order, or of the input of `parameters`. */
type StoreCall<Values extends readonly unknown[], Result> = (run: RunStatement, ...values: Values) => Promise<Result>

export function defineAction<Values extends readonly unknown[]>(
  name: string,
  text: string,
  parameters: (...values: Values) => readonly unknown[] = inOrder,
): StoreCall<Values, void> {
  const action = statement<object>(name, text)
  return async (run, ...values) => void (await run(action, parameters(...values)))
}

const inOrder = (...values: readonly unknown[]): readonly unknown[] => values

export function defineTest<Values extends readonly unknown[]>(
  name: string,
  text: string,
  parameters: (...values: Values) => readonly unknown[] = inOrder,
): StoreCall<Values, boolean> {
  const test = statement<object>(name, text)
  return async (run, ...values) => (await run(test, parameters(...values))).length > 0
}

export function defineLookup<Row extends object, Values extends readonly unknown[]>(
  name: string,
  text: string,
  parameters: (...values: Values) => readonly unknown[] = inOrder,
): StoreCall<Values, Row | null> {
  const lookup = statement<Row>(name, text)
  return async (run, ...values) => (await run(lookup, parameters(...values)))[0] ?? null
}

export function defineValue<Value, Values extends readonly unknown[]>(
  name: string,
  text: string,
  column: string,
): StoreCall<Values, Value | null> {
  const lookup = statement<Readonly<Record<string, Value>>>(name, text)
  return async (run, ...values) => (await run(lookup, values))[0]?.[column] ?? null
}

/** The same for a query that ends in asJson. */
export const defineJsonLookup = <Row, Values extends readonly unknown[]>(
  name: string,
  text: string,
): StoreCall<Values, Row | null> => defineValue(name, text, 'row')

export function defineList<Row extends object, Values extends readonly unknown[]>(
  name: string,
  text: string,
): StoreCall<Values, readonly Row[]> {
  const list = statement<Row>(name, text)
  return (run, ...values) => run(list, values)
}
