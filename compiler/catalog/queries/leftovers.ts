import type { Leftovers } from '../../../runtime/contract/execution.ts'
import { literal } from '../../../runtime/sql/literal.ts'

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
  session: {
    inText: String.raw`advisory|\mtemp(orary)?\M`,
    inTree: String.raw`:funcid (288[0-3]|288[67]|2889|2888) `,
  },
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
export const leftoversOf = (among: string | null): string => `select sign.kind, p.oid from pg_catalog.pg_proc p
    join (values ${signRows}) sign(kind, in_text, in_tree)
      on p.prosrc ~* sign.in_text or p.prosqlbody::pg_catalog.text ~ sign.in_tree
    where p.oid >= '16384'::pg_catalog.oid${among === null ? '' : ` and p.oid = ${among}`}
      and not p.pronamespace = any (array(select n.oid from pg_catalog.pg_namespace n
        where n.nspname = any ('{catalograph,catalograph_auth,information_schema}'::pg_catalog.name[])))
      and not exists (select from pg_catalog.pg_depend d
        where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e')`
