import type { Leftovers } from '../../../runtime/contract/execution.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import { type ByExtent, allRelations, classOf, firstNormalOid, isServed, touched } from './extent.ts'

/**
 * Functions that may leave a setting or a lock on their connection, judged by their source text: only the owner's
 * functions, not those of the server, of an extension or of `prepare`.
 */

type Signs = Readonly<Record<'inText' | 'inTree', string>>

const signs: Readonly<Record<keyof Leftovers, Signs>> = {
  // set_config() anywhere; SET or RESET at the beginning of a statement, also in executed texts.
  settings: {
    inText: String.raw`set_config|(^|;|'|\$|\m(begin|then|else|loop)\M)\s*(set|reset)\s`,
    inTree: String.raw`:funcid 2078 `,
  },
  // Locks and temporary tables that outlive a transaction; in a tree, the functions that lock for a session.
  session: { inText: String.raw`advisory|\mtemp(orary)?\M`, inTree: String.raw`:funcid (288[0-3]|288[67]|2889|2888) ` },
}

const signRows = Object.entries(signs)
  .map(([kind, { inText, inTree }]) => `(${[kind, inText, inTree].map(literal).join(', ')})`)
  .join(', ')

/**
 * Functions by the state that they may leave, a member of contract/execution.ts' Leftovers: a query with columns `kind`
 * and `oid`.
 *
 * @param among as of claimReaders
 */
const leftoversOf = (among: string | null): string => `select sign.kind, p.oid from pg_catalog.pg_proc p
    join (values ${signRows}) sign(kind, in_text, in_tree)
      on p.prosrc ~* sign.in_text or p.prosqlbody::pg_catalog.text ~ sign.in_tree
    where p.oid >= '16384'::pg_catalog.oid${among === null ? '' : ` and p.oid = ${among}`}
      and not p.pronamespace = any (array(select n.oid from pg_catalog.pg_namespace n
        where n.nspname = any ('{catalograph,catalograph_auth,information_schema}'::pg_catalog.name[])))
      and not exists (select from pg_catalog.pg_depend d
        where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e')`

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
    object: 'c.oid',
    reads: `c.relchecks > '0' and ${isOwnObject('c')} and k.contype = 'c' and ${inExpression('k.conbin')}`,
  },
  {
    rows: 'pg_type t join pg_catalog.pg_constraint k on k.contypid = t.oid',
    object: 't.oid',
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

/**
 * Comments with settings on objects without settings: indexes, sequences, attributes of composite types, constraints
 * other than foreign keys, triggers, policies, and types that are not enums and not mentioned by served objects. An
 * argument waits for the empty search path, so that all names are qualified.
 */
export const STRAY_LIST = `select i.type as kind, i.identity as name, d.description as comment
  from pg_catalog.pg_description d cross join path
  cross join lateral (
    select c.relnamespace as schema from pg_catalog.pg_class c
      where d.classoid = ${classOf('pg_class')} and c.oid = d.objoid
        and (c.relkind in ('i', 'I', 'S') or c.relkind = 'c' and d.objsubid > '0')
    union all select k.connamespace from pg_catalog.pg_constraint k
      where d.classoid = ${classOf('pg_constraint')} and k.oid = d.objoid and k.contype <> 'f'
    union all select c.relnamespace from pg_catalog.pg_trigger t join pg_catalog.pg_class c on c.oid = t.tgrelid
      where d.classoid = ${classOf('pg_trigger')} and t.oid = d.objoid
    union all select c.relnamespace from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = p.polrelid
      where d.classoid = ${classOf('pg_policy')} and p.oid = d.objoid
    union all select t.typnamespace from pg_catalog.pg_type t
      where d.classoid = ${classOf('pg_type')} and t.oid = d.objoid and t.typtype <> 'e' and t.oid not in (select oid from types)
  ) home
  join served s on s.oid = home.schema
  cross join lateral pg_catalog.pg_identify_object(d.classoid, d.objoid, case path.value when '' then d.objsubid end) i
  where d.objoid >= ${firstNormalOid} and pg_catalog.strpos(d.description, '@graphql(') > '0'
  order by i.identity collate pg_catalog."C", i.type collate pg_catalog."C"`

/** Members of extensions among the served objects. ALTER EXTENSION does not change an object's hash. */
export const MEMBER_LIST = `select case d.classid when ${classOf('pg_proc')} then 'function' else 'relation' end as kind, d.objid as oid, e.extname as extension
  from pg_catalog.pg_depend d join pg_catalog.pg_extension e on e.oid = d.refobjid
  where d.refclassid = ${classOf('pg_extension')} and d.deptype = 'e'
    and (d.classid = ${classOf('pg_proc')} and exists (select from pg_catalog.pg_proc p
        where p.oid = d.objid and p.pronamespace in (select oid from served))
      or d.classid = ${classOf('pg_class')} and exists (select from pg_catalog.pg_class c
        where c.oid = d.objid and ${isServed} and ${allRelations}))
  order by d.classid, d.objid`

/**
 * Tables with a trigger for each row before its insertion (tgtype: 1 row, 2 before, 4 insert; PostgreSQL's
 * pg_trigger.h). They are not part of the table's hash, because a trigger does not change the table.
 */
const filled = (among: string): string => `select distinct t.tgrelid as relation from pg_catalog.pg_trigger t
  where t.tgtype & '7' = '7' and not t.tgisinternal and t.tgrelid in (select oid from owned)${among} order by t.tgrelid`

export const FILLED_LIST: ByExtent = { whole: filled(''), recorded: filled(` and t.tgrelid = ${touched}`) }

const needy = (among: string | null): string => `select 'claims' as kind, oid from (${claimReaders(among)}) readers
  union all ${leftoversOf(among)}`

/** Objects for which requests need settings, or a cleanup. */
export const NEEDY_LIST: ByExtent = { whole: needy(null), recorded: needy(touched) }
