import { splitSql } from '../../../compiler/commands/advise/diff/script.ts'
import {
  tableNamed,
  type Grants,
  type LinkSketch,
  type TableSketch,
  type Value,
  type World,
} from '../interpreter/world.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import { fieldsOn, type LeadingField } from './worlds/world.ts'
import { clusterOf } from '../../support/clusters.ts'
import type { Major, TestDatabase } from '../../support/database.ts'
import { createDistributed } from '../../support/distributed.ts'
import { createTestService } from '../../support/service.ts'
import { dataSql, postgisSql, schemaSql } from './ddl.ts'
import { withoutHeirs } from './worlds/heirs.ts'
import { withoutLive, type Setting } from './hunt.ts'
import { stageOn } from './stage.ts'

/**
 * Drawn catalogues on Citus: each table has the tenant in its keys and is distributed by it, except the first one if it
 * can be a reference table; policies show the tenant in the claim `sub`. Each tenant has all rows.
 */

const tenant = 'tenant of row'
const tenants: readonly string[] = ['a', 'b', '']

/** Every second world has one. */
const isReference = ({ tables }: World, table: TableSketch): boolean => table === tables[0] && tables.length % 2 === 0

/** Citus runs only functions without table access on shards, and passes names on without their quotes. */
const isRunOnShards = ({ name, body: { kind } }: World['functions'][number]): boolean =>
  (kind === 'sum' || kind === 'echo' || kind === 'void') && /^[a-z_][a-z_\d]*$/.test(name)

function distributedWorld(world: World): World {
  const distributed: World = {
    // None of its tables can be watched (spec/graphql.md 16.1).
    ...withoutLive(world),
    // No table has it there.
    additions: { ...world.additions, nestedWrites: false },
    functions: world.functions.filter(isRunOnShards),
    tables: world.tables.map((table) =>
      isReference(world, table) ? referenceTable(world, table) : distributedTable(world, table),
    ),
  }
  return { ...distributed, tables: distributed.tables.map((table) => alongTenants(world, distributed, table)) }
}

/** The table with links and unions whose relation names fit keys with the tenant. */
function alongTenants(before: World, after: World, table: TableSketch): TableSketch {
  const { links, unions } = table
  return {
    ...table,
    ...(links && { links: links.map((link) => ({ ...link, path: pathAlong(before, after, table.name, link.path) })) }),
    ...(unions && {
      unions: unions.map((union) => ({
        ...union,
        of: union.of.map((name) => fieldAlong(before, after, table.name, name)?.field ?? name),
      })),
    }),
  }
}

/** If a step has no target, the path has none: its rest is unchanged. */
function pathAlong(before: World, after: World, from: string, path: LinkSketch['path']): LinkSketch['path'] {
  const [step, ...others] = path
  const found = step === undefined ? undefined : fieldAlong(before, after, from, step.field)
  return step === undefined || found === undefined
    ? path
    : [{ ...step, field: found.field }, ...pathAlong(before, after, found.to.name, others)]
}

/** The field of the same key in the other world. */
function fieldAlong(before: World, after: World, table: string, field: string): LeadingField | undefined {
  const place = fieldsOn(before, tableNamed(before, table)).findIndex((one) => one.field === field)
  return place === -1 ? undefined : fieldsOn(after, tableNamed(after, table))[place]
}

const withoutIdentities = ({ columns }: TableSketch): TableSketch['columns'] =>
  columns.map((column) =>
    column.fallback.kind === 'identity' ? { ...column, fallback: { kind: 'none' as const } } : column,
  )

/** To explain an insert, Citus draws a value for it. */
const referenceTable = ({ explain }: World, table: TableSketch): TableSketch => ({
  ...table,
  additions: { ...table.additions, nestedWrites: false },
  policies: null,
  grants: Object.fromEntries(
    Object.entries(table.grants).map(([role, grants]) => [
      role,
      { ...grants, insert: withDefaults(table, grants.insert) },
    ]),
  ),
  columns: explain === true ? withoutIdentities(table) : table.columns,
})

const distributedTable = (world: World, table: TableSketch): TableSketch => ({
  ...table,
  additions: { ...table.additions, nestedWrites: false },
  columns: [
    // Citus supports identities of bigint only.
    ...withoutIdentities(table),
    {
      name: tenant,
      type: { base: 'text', list: false, enum: null },
      notNull: true,
      fallback: { kind: 'none' },
      field: 'tenant',
    },
  ],
  primaryKey: [tenant, ...table.primaryKey],
  uniques: table.uniques.map((unique) => ({ ...unique, columns: [tenant, ...unique.columns] })),
  foreignKeys: table.foreignKeys.map((key) => {
    const target = world.tables.find(({ name }) => name === key.target)
    if (target !== undefined && isReference(world, target)) return key
    return {
      ...key,
      columns: [tenant, ...key.columns],
      targetColumns: [tenant, ...key.targetColumns],
      // The tenant is not null.
      onDelete: key.onDelete === 'set null' ? 'no action' : key.onDelete,
    }
  }),
  policies: [{ command: 'all', condition: { kind: 'owner', column: tenant } }],
  grants: Object.fromEntries(Object.entries(table.grants).map(([role, grants]) => [role, tenantGrants(table, grants)])),
  rows: tenants.flatMap((name) => table.rows.map((row): readonly Value[] => [...row, name])),
})

/** A readable key is readable as a whole; rows stay with their tenant. */
const tenantGrants = (table: TableSketch, { select, insert, update, ...others }: Grants): Grants => {
  const inserted = withDefaults(table, insert)
  return {
    ...others,
    select: select === 'all' || select.length === 0 ? select : [...select, tenant],
    insert: inserted === 'all' || inserted.length === 0 ? inserted : [...inserted, tenant],
    update: update === 'all' ? table.columns.map(({ name }) => name) : update,
  }
}

/** The privilege to insert columns, with those that have a default (spec/graphql.md 1.4). */
const withDefaults = ({ columns }: TableSketch, insert: Grants['insert']): Grants['insert'] => {
  if (insert === 'all' || insert.length === 0) return insert
  const sent = columns.filter(({ fallback }) => fallback.kind !== 'none').map(({ name }) => name)
  return [...new Set([...insert, ...sent])]
}

const hasTenant = ({ columns }: TableSketch): boolean => columns.some(({ name }) => name === tenant)

const distributeSql = ({ tables }: World): readonly string[] => {
  const [first] = tables.filter(hasTenant)
  return tables.map((table) => {
    const name = literal(ident(table.name))
    if (!hasTenant(table)) return `select create_reference_table(${name})`
    const beside = literal(first === undefined || first === table ? 'none' : ident(first.name))
    return `select create_distributed_table(${name}, ${literal(tenant)}, colocate_with => ${beside})`
  })
}

/** Keys between tables are added once these are distributed. */
const isOfKeys = (text: string): boolean => /^\s*(alter table .* add constraint|comment on constraint) /i.test(text)

/** It exists already. */
const isOfPostgis = (text: string): boolean => splitSql(postgisSql).some((statement) => statement.text === text)

const worldSql = (world: World): readonly string[] => {
  const all = splitSql(schemaSql(world))
    .map(({ text }) => text)
    .filter((text) => !isOfPostgis(text))
  return [
    ...all.filter((text) => !isOfKeys(text)),
    ...distributeSql(world),
    ...all.filter(isOfKeys),
    ...splitSql(dataSql(world)).map(({ text }) => text),
  ]
}

const runAll = async ({ query }: TestDatabase, texts: readonly string[]): Promise<void> => {
  for (const text of texts) await query(text)
}

/** Drops all objects of a world; the schema stays, because Citus has views in it. */
const leftSql = `select pg_catalog.format('drop %s if exists %s cascade', kind, name) as text from (
    select 1, 'table', c.oid, c.oid::regclass::text from pg_class c
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    union all select 2, 'function', p.oid, p.oid::regprocedure::text from pg_proc p
      where p.pronamespace = 'public'::regnamespace
    union all select 3, case t.typtype when 'd' then 'domain' else 'type' end, t.oid, t.oid::regtype::text from pg_type t
      where t.typnamespace = 'public'::regnamespace and (t.typtype in ('d', 'e') or t.typtype = 'c' and exists (
        select from pg_class c where c.oid = t.typrelid and c.relkind = 'c'))
    union all select 4, 'extension', e.oid, e.extname from pg_extension e where e.extname = 'ltree'
    union all select 5, 'schema', n.oid, n.nspname from pg_namespace n where n.nspname in ('private', 'ext')
  ) object (place, kind, oid, name)
  where not exists (select from pg_depend d where d.objid = object.oid and d.deptype = 'e') order by place`

const empty = async (database: TestDatabase): Promise<void> => {
  const { rows } = await database.query(leftSql)
  await runAll(
    database,
    rows.map(({ text }) => String(text)),
  )
}

/** Without a tenant's rows; keys are enforced on the shards, whatever the session settings are. */
const resetting = (world: World): readonly string[] => [
  `truncate ${world.tables.map(({ name }) => ident(name)).join(', ')} restart identity`,
  ...splitSql(dataSql(world)).map(({ text }) => text),
]

export interface DistributedSetting extends Setting {
  readonly close: () => Promise<void>
}

/** Codes for rows that break a constraint, have no tenant, or are not the caller's. */
const ofRows = /"sqlstate":"(23...|42501|22004)"/

/** Cross-shard queries are refused, and of several faults of a row each shard reports its own. */
const excuses: Setting['excuses'] = ({ kind, message }) =>
  kind === 'refusal' &&
  (message.includes('DATABASE_SHARDS_CROSSED') || (message.startsWith('expected the refusal') && ofRows.test(message)))

/** Its worlds are opened one at a time. */
export async function createDistributedSetting(major: Major): Promise<DistributedSetting> {
  const database = await createDistributed(
    major,
    [
      ...['anon', 'authenticated', 'service_role'].map((role) => `alter role ${role} login;`),
      ...(clusterOf(major).postgis ? [postgisSql] : []),
    ].join('\n'),
    { timezone: 'UTC' },
  )
  return {
    fit: (world) => distributedWorld(withoutHeirs(world)),
    excuses,
    open: async (world) => {
      await empty(database)
      await runAll(database, worldSql(world))
      const service = await createTestService({ database: { ...database, drop: () => Promise.resolve() } })
      return stageOn(world, service, async (held) => runAll(database, resetting(held)))
    },
    close: database.drop,
  }
}
