import type { Collation } from './column-types.ts'
import type { Ask } from './rows.ts'

/** Postgres' facts about a role and the columns of a schema. */
export interface LookedUp {
  /** Whether the role has USAGE on the schema. */
  readonly usable: boolean
  readonly columns: readonly LookedUpColumn[]
  /** Names of schemas without USAGE. */
  readonly lockedSchemas: readonly string[]
  /** Names of enums without USAGE. */
  readonly lockedEnums: readonly string[]
}

export interface LookedUpColumn {
  readonly relation: string
  readonly column: string
  readonly readable: boolean
  /** Whether the role may read the whole relation. */
  readonly whole: boolean
  readonly collation: Collation
}

/**
 * Queried as the role itself, with its own privileges. The collation of a database is bytewise only if the C library
 * compares by "C" (PostgreSQL manual, 24.2).
 */
const question = (schema: string): string => `select json_build_object(
  'usable', has_schema_privilege(n.oid, 'usage'),
  'lockedSchemas', (select coalesce(json_agg(s.nspname), '[]') from pg_namespace s
    where not has_schema_privilege(s.oid, 'usage')),
  'lockedEnums', (select coalesce(json_agg(t.typname), '[]') from pg_type t
    where t.typnamespace = n.oid and t.typtype = 'e' and not has_type_privilege(t.oid, 'usage')),
  'columns', (select coalesce(json_agg(json_build_object(
      'relation', c.relname, 'column', a.attname,
      'readable', has_column_privilege(c.oid, a.attnum, 'select'), 'whole', has_table_privilege(c.oid, 'select'),
      'collation', case
        when o.oid is null or o.collname in ('C', 'POSIX', 'ucs_basic')
          or o.collname = 'default' and coalesce(to_jsonb(d) ->> 'datlocprovider', 'c') = 'c'
            and d.datcollate in ('C', 'POSIX') then json_build_object('kind', 'bytes')
        when not o.collisdeterministic then json_build_object('kind', 'blurred')
        else json_build_object('kind', 'named', 'sql', format('%I.%I', s.nspname, o.collname)) end)), '[]')
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_collation o on o.oid = a.attcollation left join pg_namespace s on s.oid = o.collnamespace
      join pg_database d on d.datname = current_database()
    where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f'))
)::text from pg_namespace n where n.nspname = ${schema}`

/** Rejects with DatabaseFailure. */
export async function lookUp(ask: Ask, schema: string): Promise<LookedUp> {
  const answer = await ask({ text: question('$1'), values: [schema] })
  return answer === null
    ? { usable: false, columns: [], lockedSchemas: [], lockedEnums: [] }
    : (JSON.parse(answer) as LookedUp)
}
