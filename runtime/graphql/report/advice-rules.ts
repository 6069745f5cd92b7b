/** Advice about rules and about keys over periods (advice.ts defines the relations `r`). */

/**
 * A write runs within WITH and returns rows, which Postgres allows for one kind of rule only (PostgreSQL manual, CREATE
 * RULE and 7.8.4).
 */
export const RULES = `select 1, 'a rule makes writes fail',
    'rule ' || pg_catalog.quote_ident(w.rulename) || ' on ' || r.name,
    'Postgres refuses every ' || case w.ev_type when '2' then 'update' when '3' then 'insert' else 'delete' end
      || ' of the API: it takes only a rule with INSTEAD, without a condition, of one statement with RETURNING. Write a trigger in its place.',
    'drop rule ' || pg_catalog.quote_ident(w.rulename) || ' on ' || r.name || ';'
  from relations r join pg_catalog.pg_rewrite w on w.ev_class = r.oid and w.ev_type in ('2', '3', '4') and w.ev_enabled <> 'D'
  cross join lateral (select pg_catalog.pg_get_ruledef(w.oid) as text) rule
  where r.roles is not null
    and not (w.is_instead and w.ev_qual::pg_catalog.text = '<>' and rule.text ~ '\\mRETURNING\\M' and rule.text !~ 'DO INSTEAD \\(')`

/** Keys of tables, and whether they are over periods: Postgres 17 and older take that column from the outer query. */
export const KEYS = `keys as (
  select k.* from (select false as conperiod) before_18
  cross join lateral (select k.oid, k.conname, k.conrelid, k.conkey, conperiod as temporal
    from pg_catalog.pg_constraint k where k.contype = 'f' and k.conparentid = 0) k
)`

/** Not a fault: it explains to the owner why there is no field. */
export const PERIODS = `select 6, 'a foreign key over periods has no relation',
    'constraint ' || pg_catalog.quote_ident(k.conname) || ' on ' || r.name,
    'It relates rows whose periods cover another one, and relations relate rows whose columns are equal.',
    '-- A function that takes a row and returns those of the other table can have a field.'
  from keys k join relations r on r.oid = k.conrelid where k.temporal and r.roles is not null`

/** A hint if the database has no foreign keys: one per schema. */
export const UNRELATED = `select 7, 'no table has a foreign key', 'schema ' || pg_catalog.quote_ident(n.nspname),
    'No row leads to rows of another table.',
    '-- Add foreign keys, or declare them in comments with the setting foreign_keys (docs/api.md): comment on table a is ''@graphql({"foreign_keys": [{"local_columns": ["b_id"], "foreign_schema": ' || pg_catalog.to_json(n.nspname)::pg_catalog.text || ', "foreign_table": "b", "foreign_columns": ["id"]}]})'';'
  from pg_catalog.pg_namespace n
  where (select pg_catalog.count(*) from relations r where r.schema = n.oid and r.relkind in ('r', 'p')
      and not exists (select from pg_catalog.pg_inherits i where i.inhrelid = r.oid)) > 1
    and not exists (select from relations r where r.schema = n.oid
      and (exists (select from pg_catalog.pg_constraint k where k.conrelid = r.oid and k.contype = 'f')
        or pg_catalog.strpos(pg_catalog.obj_description(r.oid, 'pg_class'), '"foreign_keys"') > 0))`
