import { literal } from '../../runtime/sql/literal.ts'

/** What `request.jwt.claim.NAME` holds and `request.jwt.claims` does not. Names of settings know no case. */
const mention = 'claim.'

/** The same in pg_node_tree, where a constant is the list of its bytes. */
const bytesOf = (letter: string): string =>
  `(${letter.toLowerCase().charCodeAt(0)}|${letter.toUpperCase().charCodeAt(0)})`
const mentionParsed = ` ${[...mention].map(bytesOf).join(' ')} `

/** Asking for a setting whose name is not written there may be asking for any: 2077 and 3294 are current_setting(). */
const asksForAny = String.raw`current_setting\s*\(\s*[^'\s]`
const asksForAnyParsed = String.raw`:funcid (2077|3294) [^{}]*:args \(\{(?!CONST)`

const inBody = (text: string): string =>
  `(pg_catalog.strpos(pg_catalog.lower(${text}), ${literal(mention)}) > 0 or ${text} ~* ${literal(asksForAny)})`

/** Patterns are dear and policies are many: they are only tried where one of the functions is called at all. */
const inExpression = (tree: string): string => {
  const text = `${tree}::pg_catalog.text`
  const calls = ['2077', '3294'].map((fn) => `pg_catalog.strpos(${text}, ':funcid ${fn} ') > 0`)
  return `((${calls.join(' or ')}) and ${text} ~ ${literal(`${mentionParsed}|${asksForAnyParsed}`)})`
}

/** Objects that came with the server have lower numbers (FirstNormalObjectId). */
const isOwn = (alias: string): string => `${alias}.oid >= '16384'::pg_catalog.oid`

const places: readonly string[] = [
  `pg_catalog.pg_proc p where ${isOwn('p')} and ${inBody('p.prosrc')}`,
  `pg_catalog.pg_proc p where ${isOwn('p')} and p.prosqlbody is not null and ${inExpression('p.prosqlbody')}`,
  `pg_catalog.pg_policy p where ${inExpression('p.polqual')} or ${inExpression('p.polwithcheck')}`,
  `pg_catalog.pg_rewrite r where ${isOwn('r')} and (${inExpression('r.ev_action')} or ${inExpression('r.ev_qual')})`,
  `pg_catalog.pg_attrdef d where ${inExpression('d.adbin')}`,
  `pg_catalog.pg_trigger t where t.tgqual is not null and ${inExpression('t.tgqual')}`,
  `pg_catalog.pg_class c join pg_catalog.pg_constraint k on k.conrelid = c.oid
    where c.relchecks > '0' and ${isOwn('c')} and k.contype = 'c' and ${inExpression('k.conbin')}`,
  `pg_catalog.pg_type t join pg_catalog.pg_constraint k on k.contypid = t.oid
    where t.typtype = 'd' and ${isOwn('t')} and ${inExpression('k.conbin')}`,
]

/**
 * SQL of type boolean: whether anything in the database may read a claim as a setting of its own,
 * `request.jwt.claim.NAME`. Only what the owner wrote can, bodies of functions and expressions that Postgres keeps parsed;
 * and to set them all costs a request as much as a small statement does.
 */
export const CLAIM_READERS = `(${places.map((place) => `exists (select from ${place})`).join('\n  or ')})`
