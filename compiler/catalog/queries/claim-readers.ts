import { literal } from '../../../runtime/sql/literal.ts'

/** A claim in `request.jwt.claim.NAME` instead of `request.jwt.claims`. Names of settings are case-insensitive. */
const mention = 'claim.'

/** The same in pg_node_tree, where a constant is a list of bytes. */
const eitherCase = (letter: string): string =>
  `(${letter.toLowerCase().charCodeAt(0)}|${letter.toUpperCase().charCodeAt(0)})`
const mentionParsed = ` ${[...mention].map(eitherCase).join(' ')} `

/** A computed setting name may be any: 2077 and 3294 are current_setting(). */
const asksForAny = String.raw`current_setting\s*\(\s*[^'\s]`
const asksForAnyParsed = String.raw`:funcid (2077|3294) [^{}]*:args \(\{(?!CONST)`

const inBody = (text: string): string =>
  `(pg_catalog.strpos(pg_catalog.lower(${text}), ${literal(mention)}) > 0 or ${text} ~* ${literal(asksForAny)})`

/** Patterns are expensive and policies are many: they are only tried if one of the functions is called at all. */
const inExpression = (tree: string): string => {
  const text = `${tree}::pg_catalog.text`
  const calls = ['2077', '3294'].map((fn) => `pg_catalog.strpos(${text}, ':funcid ${fn} ') > 0`)
  return `((${calls.join(' or ')}) and ${text} ~ ${literal(`${mentionParsed}|${asksForAnyParsed}`)})`
}

/** Objects of the initial database have lower numbers (FirstNormalObjectId). */
const isOwnObject = (alias: string): string => `${alias}.oid >= '16384'::pg_catalog.oid`

/** Rows of a catalogue that may read claims, and the function, relation or domain of each. */
interface Place {
  readonly rows: string
  readonly object: string
  readonly reads: string
}

const places: readonly Place[] = [
  {
    rows: 'pg_proc p',
    object: 'p.oid',
    reads: `${isOwnObject('p')} and (${inBody('p.prosrc')} or p.prosqlbody is not null and ${inExpression('p.prosqlbody')})`,
  },
  {
    rows: 'pg_policy p',
    object: 'p.polrelid',
    reads: `(${inExpression('p.polqual')} or ${inExpression('p.polwithcheck')})`,
  },
  {
    rows: 'pg_rewrite r',
    object: 'r.ev_class',
    reads: `${isOwnObject('r')} and (${inExpression('r.ev_action')} or ${inExpression('r.ev_qual')})`,
  },
  { rows: 'pg_attrdef d', object: 'd.adrelid', reads: inExpression('d.adbin') },
  { rows: 'pg_trigger t', object: 't.tgrelid', reads: `t.tgqual is not null and ${inExpression('t.tgqual')}` },
  {
    rows: 'pg_class c join pg_catalog.pg_constraint k on k.conrelid = c.oid',
    object: 'k.conrelid',
    reads: `c.relchecks > '0' and ${isOwnObject('c')} and k.contype = 'c' and ${inExpression('k.conbin')}`,
  },
  {
    rows: 'pg_type t join pg_catalog.pg_constraint k on k.contypid = t.oid',
    object: 'k.contypid',
    reads: `t.typtype = 'd' and ${isOwnObject('t')} and ${inExpression('k.conbin')}`,
  },
]

/**
 * Objects that may read a claim as an individual setting, `request.jwt.claim.NAME`: a query with a column `oid`. Only
 * the owner's code can, in bodies of functions and in expressions that Postgres stores parsed; setting all of them
 * costs a request as much as a small statement.
 *
 * @param among the SQL after `=` that limits the searched objects; null: all
 */
export const claimReaders = (among: string | null): string =>
  places
    .map(
      ({ rows, object, reads }) =>
        `select ${object} as oid from pg_catalog.${rows} where ${among === null ? '' : `${object} = ${among} and `}${reads}`,
    )
    .join('\n  union ')
