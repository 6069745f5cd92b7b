import { literal } from '../../runtime/sql/literal.ts'

/**
 * Which functions may leave a setting or a lock on their connection, judged by their source text: only functions of the
 * owner, not those of the server, of an extension or of `prepare`.
 */

/** set_config() anywhere; SET or RESET where a statement begins, in a text that is executed as well. */
const setsSomething = String.raw`set_config|(^|;|'|\$|\m(begin|then|else|loop)\M)\s*(set|reset)\s`

/** Locks and temporary tables that outlive a transaction. */
const keepsSomething = String.raw`advisory|\mtemp(orary)?\M`

/** The same in the tree of a body that Postgres keeps parsed: set_config(), and the functions that lock for a session. */
const setsParsed = String.raw`:funcid 2078 `
const keepsParsed = String.raw`:funcid (288[0-3]|288[67]|2889|2888) `

const mentions = (pattern: string, parsed: string): string =>
  `exists (select from pg_catalog.pg_proc p
    where p.oid >= '16384'::pg_catalog.oid
      and (p.prosrc ~* ${literal(pattern)} or p.prosqlbody::pg_catalog.text ~ ${literal(parsed)})
      and not p.pronamespace = any (array(select n.oid from pg_catalog.pg_namespace n
        where n.nspname = any ('{catalograph,catalograph_auth,information_schema}'::pg_catalog.name[])))
      and not exists (select from pg_catalog.pg_depend d
        where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e'))`

/** SQL of type json: `settings` and `session` of contract/execution.ts' Leftovers. */
export const LEFTOVERS = `pg_catalog.json_build_object(
    'settings', ${mentions(setsSomething, setsParsed)},
    'session', ${mentions(keepsSomething, keepsParsed)})`
