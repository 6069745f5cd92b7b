import type { TestDatabase } from '../../test/support/database.ts'

const types = ['text', 'int8', 'numeric(12,2)', 'timestamptz', 'bool', 'jsonb', 'uuid', 'varchar(80)', 'date', 'float8']

/** Twenty columns, two of them foreign keys (some tables are referred to by many), and policies. */
const tableSql = (index: number): string => `create table tab_${index} (id bigserial primary key,
  a_id bigint references tab_${Math.floor(index / 2)}, b_id bigint references tab_${index < 20 ? 0 : index % 20},
  ${Array.from({ length: 17 }, (_, column) => `c${column} ${types[column % types.length]}`).join(', ')});
  alter table tab_${index} enable row level security;
  create policy reading on tab_${index} for select using (true);
  create policy writing on tab_${index} for all using (c4) with check (c4);
  grant select, insert, update, delete on tab_${index} to anon;`

const blockSize = 50

export async function createTables(db: TestDatabase, count: number): Promise<void> {
  for (let from = 0; from < count; from += blockSize) {
    const indexes = Array.from({ length: Math.min(blockSize, count - from) }, (_, offset) => from + offset)
    await db.query(indexes.map(tableSql).join('\n'))
  }
  await db.query('vacuum analyze')
}

/** A change and its reversal. */
export interface SchemaChange {
  readonly name: string
  readonly sql: readonly [there: string, back: string]
}

export const schemaChanges: readonly SchemaChange[] = [
  { name: 'column', sql: ['alter table tab_9 add column extra int', 'alter table tab_9 drop column extra'] },
  { name: 'grant', sql: ['grant select on tab_9 to authenticated', 'revoke select on tab_9 from authenticated'] },
  { name: 'comment', sql: [`comment on table tab_9 is 'Text'`, 'comment on table tab_9 is null'] },
  // A twentieth of all tables refer to it, and use its name in their fields.
  {
    name: 'name',
    sql: [`comment on table tab_9 is '@graphql({"name": "Other"})'`, 'comment on table tab_9 is null'],
  },
  { name: 'table', sql: ['create table added (id int primary key, tab int8 references tab_7)', 'drop table added'] },
  { name: 'schema', sql: ['create schema added', 'drop schema added'] },
  { name: 'sequence', sql: ['create sequence added', 'drop sequence added'] },
  // Its event names the new owner only.
  {
    name: 'owner of a sequence',
    sql: ['alter sequence tab_9_id_seq owned by none', 'alter sequence tab_9_id_seq owned by tab_9.id'],
  },
]
