import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCompiler } from '../../compiler/compile.ts'
import { product } from '../../compiler/commands/verify.ts'
import { verifySchema, type VerifyOptions } from './verify.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { lawMajors } from '../support/whole.ts'

/** Types with two values of each, for keys. */
const keys: readonly (readonly [type: string, one: string, other: string])[] = [
  ['text[]', `'{a,"b c",NULL}'`, `'{"a\\"b",""}'`],
  ['int[]', `'{1,2}'`, `'{}'`],
  ['numeric[]', `'{1.50,0.1}'`, `'{7}'`],
  ['bigint[]', `'{9007199254740993}'`, `'{1,NULL}'`],
  ['uuid[]', `'{00000000-0000-4000-8000-000000000001}'`, `'{}'`],
  ['timestamptz[]', `'{2024-01-01 00:00:00.5+00}'`, `'{}'`],
  ['odd_label[]', `'{true,fine}'`, `'{null}'`],
  ['odd_label', `'true'`, `'fine'`],
  ['without_words', `'odd label'`, `'null'`],
  ['int4range', `'[1,5)'`, `'empty'`],
  ['int8range', `'[1,5)'`, `'empty'`],
  ['int4multirange', `'{[1,5)}'`, `'{}'`],
  ['bytea', `'\\x00ff'`, `'\\x'`],
  ['inet', `'10.0.0.1'`, `'::1'`],
  ['macaddr', `'08:00:2b:01:02:03'`, `'08:00:2b:01:02:04'`],
  ['interval', `'1 day'`, `'25 hours'`],
  ['money', `'1.50'`, `'-2'`],
  ['bit(3)', `'101'`, `'000'`],
  ['timetz', `'12:00+02'`, `'12:00+03'`],
  ['name', `'a'`, `'b'`],
  ['oid', `'1'`, `'2'`],
  ['"char"', `'a'`, `'b'`],
  ['char(3)', `'ab'`, `'abc'`],
  ['varchar(2)', `'ab'`, `'é'`],
  ['jsonb', `'{"bb": 1.50, "a": [1, null]}'`, `'"text"'`],
  ['float8', `'1.5'`, `'-0.25'`],
  ['real', `'1.5'`, `'0.1'`],
  ['pair', `'(1,x)'`, `'(2,"a b")'`],
  ['positive', `'1'`, `'2'`],
  ['tsvector', `'a:1 b:2'`, `''`],
  ['point_of_time', `'2024-01-01'`, `'2024-01-02'`],
]

const schema = `
  comment on schema public is '@graphql({"uniqueKeys": {"enabled": true}, "distinctOn": {"enabled": true},
    "groups": {"enabled": true}, "enumArrays": {"enabled": true}, "relationFilters": {"enabled": true},
    "orderByRelated": {"enabled": true}, "arrayFilters": {"enabled": true}, "rangeFilters": {"enabled": true},
    "networkFilters": {"enabled": true}, "jsonFilters": {"enabled": true}, "columnFilters": {"enabled": true}})';
  create type odd_label as enum ('true', 'false', 'null', 'fine');
  create type without_words as enum ('odd label', 'null', 'true');
  create type nothing as enum ();
  create type pair as (a int, b text);
  create domain positive as int;
  create domain point_of_time as date;
  create table of_nothing (id int primary key, kind nothing, kinds nothing[], unique (kind));
  insert into of_nothing values (1, null, '{}'), (2, null, null);
  ${keys
    .map(
      ([type, one, other], index) => `
  create table key_${index} (k ${type} primary key, v int);
  insert into key_${index} values (${one}, 1), (${other}, 2);
  create table pair_${index} (k ${type}, id int, v ${type}, primary key (k, id));
  insert into pair_${index} values (${one}, 1, null), (${one}, 2, ${other}), (${other}, 1, ${one});
  create table unique_${index} (id int primary key, k ${type} unique, key_k ${type} references key_${index});
  insert into unique_${index} values (1, ${one}, ${one}), (2, ${other}, ${one}), (3, null, null);`,
    )
    .join('')}
  grant select on all tables in schema public to anon;`

describe.each(lawMajors())('verify on keys of unusual types on PostgreSQL %i', { timeout: 300_000 }, (major) => {
  let db: TestDatabase
  let compiled: Awaited<ReturnType<ReturnType<typeof createCompiler>['compile']>>
  beforeAll(async () => {
    db = await createDatabase({ major, prepare: true, sql: schema })
    compiled = await withSession({ url: db.url }, (query) =>
      createCompiler({ query, schemas: ['public'], version: null }).compile(),
    )
  }, 120_000)
  afterAll(() => db.drop())

  const tablesOf = (index: number): readonly string[] => ['key', 'pair', 'unique'].map((name) => `${name}_${index}`)
  const places = keys.map((_, index) => index)
  const groups = [0, 1, 2, 3].map((group) => places.filter((index) => index % 4 === group))

  it.each(groups)('raises no false alarm on those at places %i, %i, %i and so on', async (...asked) => {
    const { annotated, revision } = compiled
    const [served] = annotated.schemas
    if (served === undefined) throw new Error('there is no schema')
    const skipped = new Set(places.filter((index) => !asked.includes(index)).flatMap(tablesOf))
    const database = openDatabase({ url: db.url, schemas: ['public'], poolSize: 1, timeZone: 'UTC' })
    let exchanges = 0
    const options: VerifyOptions = {
      ...{ product, annotated, revision, role: 'anon', claims: {}, seed: 1, rows: 200, most: 5 },
      skip: annotated.relations.filter(({ name }) => skipped.has(name)),
      run: (exchange) => {
        exchanges += 1
        return database.run(exchange)
      },
      // By documents, not by the clock: a busy machine must ask as many.
      get deadline() {
        return exchanges < 200 ? Number.POSITIVE_INFINITY : 0
      },
    }
    try {
      const { differences, documents } = await verifySchema(options, served)
      expect(differences).toEqual([])
      expect(documents).toBeGreaterThan(100)
    } finally {
      await database.close()
    }
  })
})
