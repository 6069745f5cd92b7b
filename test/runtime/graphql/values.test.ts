import { describe, expect, test } from 'vitest'
import { buildView } from '../../../compiler/additions/engine.ts'
import { dataOf } from '../../support/answers.ts'
import { scalarNames } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

/**
 * One column and one function per row of spec/graphql.md 3.1: what goes in by GraphQL literal and by variable, and what
 * comes out.
 */
interface Case {
  readonly name: string
  readonly sql: string
  readonly type: string
  readonly literal: string
  readonly variable: unknown
  readonly out: unknown
  /** A condition that the value meets; null: the type has no filter, or Postgres has no equality for it. */
  readonly filter: string | null
  /** The result of a function where type modifiers matter: arguments and results have none. */
  readonly called?: unknown
}

const row = (
  name: string,
  sql: string,
  type: string,
  literal: string,
  variable: unknown,
  out: unknown,
  filter: string | null = `{ eq: ${literal} }`,
): Case => ({ name, sql, type, literal, variable, out, filter })

const listOf = (literal: string): string => `{ contains: ${literal} }`
const day = '2024-02-29'
const id = '7e6bb18a-1a35-4d2b-9c5f-6a3b8e0c2d11'
const quoted = (value: unknown): string => JSON.stringify(value)
const text = (name: string, sql: string, type: string, value: string, out: unknown, filter?: string | null): Case =>
  row(name, sql, type, quoted(value), value, out, filter)

const cases: readonly Case[] = [
  row('int2', 'int2', 'Int', '-5', -5, -5),
  row('int4', 'int4', 'Int', '2147483647', 2147483647, 2147483647),
  row('int8', 'int8', 'BigInt', '9007199254740993', '9007199254740993', '9007199254740993'),
  text('int8_text', 'int8', 'BigInt', '-9223372036854775808', '-9223372036854775808'),
  row('float4', 'float4', 'Float', '1.1', 1.1, 1.1),
  row('float8', 'float8', 'Float', '0.1', 0.1, 0.1),
  row('float8_whole', 'float8', 'Float', '25.0', 25, 25),
  { ...text('numeric', 'numeric(10,2)', 'BigFloat', '25.1', '25.10'), called: '25.1' },
  text('numeric_long', 'numeric', 'BigFloat', '12345678901234567890.0123456789', '12345678901234567890.0123456789'),
  text('text', 'text', 'String', 'a "b" \\ \n ü', 'a "b" \\ \n ü'),
  text('varchar', 'varchar(8)', 'String', 'abc', 'abc'),
  text('varchar_free', 'varchar', 'String', 'a longer text', 'a longer text'),
  { ...text('char', 'char(4)', 'String', 'ab', 'ab  '), called: 'ab' },
  text('one_char', '"char"', 'String', 'x', 'x'),
  text('citext', 'extensions.citext', 'String', 'Ab', 'Ab'),
  row('bool', 'bool', 'Boolean', 'true', true, true),
  text('date', 'date', 'Date', day, day),
  text('time', 'time', 'Time', '18:23:00', '18:23:00'),
  text('timestamp', 'timestamp', 'Datetime', '2000-01-01 18:00', '2000-01-01T18:00:00'),
  text('timestamp_ms', 'timestamp(3)', 'Datetime', '2000-01-01 18:00:00', '2000-01-01T18:00:00'),
  text('timestamptz', 'timestamptz', 'Datetime', '2000-01-01T18:00:00-08:00', '2000-01-02T02:00:00+00:00'),
  text('uuid', 'uuid', 'UUID', id.toUpperCase(), id),
  text('json', 'json', 'JSON', ' {"b": 1,  "a": 2} ', '{"b": 1,  "a": 2}', null),
  text('jsonb', 'jsonb', 'JSON', '{"b": 1,  "a": 2}', '{"a": 2, "b": 1}', null),
  row('mood', 'mood', 'mood', 'GLAD', 'GLAD', 'GLAD'),
  text('other_mood', 'other.mood', 'Opaque', 'happy', 'happy'),
  row('int4_list', 'int4[]', '[Int]', '[1, null, 3]', [1, null, 3], [1, null, 3], listOf('[3, 1]')),
  row(
    'int8_list',
    'int8[]',
    '[BigInt]',
    '[9007199254740993, "2"]',
    ['9007199254740993', 2],
    ['9007199254740993', '2'],
    listOf('2'),
  ),
  row('numeric_list', 'numeric[]', '[BigFloat]', '["1.50"]', ['1.50'], ['1.50'], '{ eq: ["1.5"] }'),
  row('float_list', 'float8[]', '[Float]', '[1.5, 2]', [1.5, 2], [1.5, 2], '{ overlaps: [2] }'),
  row(
    'text_list',
    'text[]',
    '[String]',
    String.raw`["a,b", "{", "\"", "\\", "", "NULL", null]`,
    ['a,b', '{', '"', '\\', '', 'NULL', null],
    ['a,b', '{', '"', '\\', '', 'NULL', null],
    '{ contains: ["NULL", "\\\\"] }',
  ),
  row('varchar_list', 'varchar(8)[]', '[String]', '["abc"]', ['abc'], ['abc']),
  row('interval_list', 'interval[]', '[Opaque]', '["1 day"]', ['1 day'], ['1 day'], null),
  row('empty_list', 'text[]', '[String]', '[]', [], [], '{ eq: [] }'),
  row('wrapped_list', 'text[]', '[String]', '"alone"', 'alone', ['alone'], '{ containedBy: "alone" }'),
  row('bool_list', 'bool[]', '[Boolean]', '[true, false]', [true, false], [true, false], listOf('true')),
  row('uuid_list', 'uuid[]', '[UUID]', `["${id}"]`, [id], [id], listOf(quoted(id))),
  row('date_list', 'date[]', '[Date]', `["${day}"]`, [day], [day], listOf(quoted(day))),
  row('time_list', 'time[]', '[Time]', '["18:23:00"]', ['18:23:00'], ['18:23:00'], listOf('"18:23"')),
  row(
    'stamp_list',
    'timestamptz[]',
    '[Datetime]',
    '["2000-01-01T18:00:00Z"]',
    ['2000-01-01T18:00:00Z'],
    ['2000-01-01T18:00:00+00:00'],
    listOf('"2000-01-01T19:00:00+01:00"'),
  ),
  row(
    'jsonb_list',
    'jsonb[]',
    '[JSON]',
    String.raw`["{\"b\": 1, \"a\": 2}", "\"s\""]`,
    ['{"b": 1, "a": 2}', '"s"'],
    ['{"a": 2, "b": 1}', '"s"'],
    null,
  ),
  row('mood_list', 'mood[]', '[mood]', '[GLAD, sad]', ['GLAD', 'sad'], ['happy', 'sad'], null),
  row('other_mood_list', 'other.mood[]', '[Opaque]', '["happy"]', ['happy'], ['happy'], null),
  row(
    'box_list',
    'box[]',
    '[Opaque]',
    '["(1,1),(0,0)", "(3,3),(2,2)"]',
    ['(1,1),(0,0)', '(3,3),(2,2)'],
    ['(1,1),(0,0)', '(3,3),(2,2)'],
    null,
  ),
  row('domain_list', 'positive[]', '[Opaque]', '[1, 2]', [1, 2], [1, 2], null),
  row('domain', 'positive', 'Opaque', '7', 7, 7),
  // Postgres has no equality for domains over enums.
  text('domain_of_enum', 'mood_domain', 'Opaque', 'happy', 'happy', '{ is: NOT_NULL }'),
  text('domain_of_composite', 'pair_domain', 'Opaque', '(1,x)', { a: 1, b: 'x' }),
  text('timetz', 'timetz', 'Opaque', '18:23:00+02', '18:23:00+02'),
  text('interval', 'interval', 'Opaque', '26 hours', '26:00:00'),
  text('interval_ms', 'interval day to second(3)', 'Opaque', '1 day 02:00:00', '1 day 02:00:00'),
  text('bytea', 'bytea', 'Opaque', '\\x0102', '\\x0102'),
  row('money', 'money', 'Opaque', '1.5', 1.5, '$1.50', '{ eq: "$1.50" }'),
  text('name', 'name', 'Opaque', 'abc', 'abc'),
  row('oid', 'oid', 'Opaque', '4294967295', 4294967295, '4294967295'),
  text('range', 'int4range', 'Opaque', '[1,4]', '[1,5)'),
  text('multirange', 'int4multirange', 'Opaque', '{[1,4]}', '{[1,5)}'),
  text('inet', 'inet', 'Opaque', '10.0.0.1/8', '10.0.0.1/8'),
  text('xml', 'xml', 'Opaque', '<a/>', '<a/>', '{ is: NOT_NULL }'),
  text('bit', 'bit(3)', 'Opaque', '101', '101'),
  text('varbit', 'varbit(5)', 'Opaque', '101', '101'),
  text('box', 'box', 'Opaque', '(1,1),(0,0)', '(1,1),(0,0)'),
  text('point', 'point', 'Opaque', '(1,2)', '(1,2)', '{ is: NOT_NULL }'),
  text('tsvector', 'tsvector', 'Opaque', 'a b', "'a' 'b'"),
  text('hstore', 'extensions.hstore', 'Opaque', 'a=>1', { a: '1' }),
]

/** Functions take and return plain types only (spec/graphql.md 9.1). */
const callable = cases.filter(({ sql }) => !sql.includes('mood'))

const schema = `
  create schema other;
  create schema extensions;
  grant usage on schema other, extensions to anon;
  create extension citext schema extensions;
  create extension hstore schema extensions;
  create type mood as enum ('sad', 'happy', 'on-off');
  comment on type mood is '@graphql({"mappings": {"happy": "GLAD"}})';
  create type other.mood as enum ('happy');
  create domain positive as int check (value > 0);
  create domain mood_domain as mood;
  create type pair as (a int, b text);
  create domain pair_domain as pair;
  create domain int_list_domain as int[];
  create domain short_domain as varchar(3);
  create table inner_table (id int primary key);
  create table "values" (
    id int primary key,
    ${cases.map(({ name, sql }) => `"${name}" ${sql}`).join(', ')}
  );
  create table outputs (
    id int primary key, nan float8, infinite float8, minus_infinite float4,
    doc jsonb, raw json, docs jsonb[], raws json[], nested int[], mood mood, numeric_list numeric[],
    stamp timestamp, stamptz timestamptz, composite_domain pair_domain
  );
  insert into outputs values (
    1, 'NaN', 'Infinity', '-Infinity', '"abc"', '  {"a" :1}  ', array['"s"', 'null', null, '{"b":1}']::jsonb[], array[' {"a" :1}']::json[],
    '{{1,2},{3,4}}', 'on-off', '{1.50,NULL}', 'infinity', '2024-07-01 12:00:00.123456+02', row(null, null)
  );
  insert into outputs (id, doc, raw) values (2, 'null', '"q"');
  insert into outputs (id, doc) values (3, null), (4, '[1,  "x"]'), (5, '1.50'), (6, 'true');
  create table omitted (
    id int primary key, pair pair, pairs pair[], inner_row inner_table, inner_rows inner_table[], list_domain int_list_domain
  );
  create table limits (
    id int primary key, short varchar(4), fixed char(3), shorts varchar(3)[], fixeds char(3)[], bits bit(3), varbits varbit(3),
    short_domain short_domain, price numeric(6,2), mood mood, moods mood[]
  );
  create function short_arg(a varchar, b char(3)) returns text immutable language sql as $$ select a || '|' || b $$;
  ${callable
    .map(
      ({ name, sql }) =>
        `create function "echo_${name}"(a ${sql}) returns ${sql} immutable language sql as $$ select a $$;`,
    )
    .join('\n')}
  grant all on all tables in schema public to anon;
`

const service = forSuite(createTestService, { sql: schema })

const ask = async (query: string, variables: Record<string, unknown> = {}) =>
  dataOf(await service.graphql(query, { variables }))
const refusal = async (query: string, variables: Record<string, unknown> = {}): Promise<readonly string[]> => {
  const answer = await service.graphql(query, { variables })
  expect(answer.data).toBeNull()
  return (answer.errors ?? []).map(({ message }) => message)
}
let lastId = 0
const nextId = (): number => (lastId += 1)

describe('3.1 mapping', () => {
  test.each(cases)('returns $name ($sql, $type) as it was sent by literal', async ({ name, literal, out, filter }) => {
    const id = nextId()
    const insert = `mutation { insertIntovaluesCollection(objects: [{ id: ${id}, ${name}: ${literal} }]) { records { ${name} } } }`
    expect(await ask(insert)).toEqual({ insertIntovaluesCollection: { records: [{ [name]: out }] } })
    const read = `{ valuesCollection(filter: { id: { eq: ${id} } ${filter === null ? '' : `${name}: ${filter}`} }) { edges { node { ${name} } } } }`
    expect(await ask(read)).toEqual({ valuesCollection: { edges: [{ node: { [name]: out } }] } })
  })

  test.each(cases)('returns $name ($sql, $type) as it was sent by variable', async ({ name, type, variable, out }) => {
    const id = nextId()
    await ask(`mutation { insertIntovaluesCollection(objects: { id: ${id} }) { affectedCount } }`)
    const update = `mutation ($value: ${type}) { updatevaluesCollection(set: { ${name}: $value }, filter: { id: { eq: ${id} } }) { records { ${name} } } }`
    expect(await ask(update, { value: variable })).toEqual({ updatevaluesCollection: { records: [{ [name]: out }] } })
    const insert = `mutation ($rows: [valuesInsertInput!]!) { insertIntovaluesCollection(objects: $rows) { records { ${name} } } }`
    const rows = [
      { id: nextId(), [name]: variable },
      { id: nextId(), [name]: null },
    ]
    expect(await ask(insert, { rows })).toEqual({
      insertIntovaluesCollection: { records: [{ [name]: out }, { [name]: null }] },
    })
  })

  test.each(callable)(
    'returns $name ($sql, $type) as it was sent to a function',
    async ({ name, type, literal, variable, out, called = out }) => {
      expect(await ask(`{ echo_${name}(a: ${literal}) }`)).toEqual({ [`echo_${name}`]: called })
      expect(await ask(`query ($a: ${type}!) { echo_${name}(a: $a) }`, { a: variable })).toEqual({
        [`echo_${name}`]: called,
      })
    },
  )

  test('gives fields, filters and orders their types', async () => {
    const types = await shapes(['values', 'valuesFilter', 'valuesOrderBy'])
    for (const { name, type } of cases) expect([name, types['values']?.[name]]).toEqual([name, type])
    const filtered: Record<string, string | undefined> = {
      json: undefined,
      jsonb: undefined,
      jsonb_list: undefined,
      mood_list: undefined,
      other_mood_list: undefined,
      box_list: undefined,
      domain_list: undefined,
      interval_list: undefined,
      mood: 'moodFilter',
    }
    // Types without a default btree operator class (spec/graphql.md, decision 20).
    const unordered = ['xml', 'box', 'point']
    for (const { name, type } of cases) {
      const plain = type.startsWith('[') ? `${type.slice(1, -1)}ListFilter` : `${type}Filter`
      expect([name, types['valuesFilter']?.[name]]).toEqual([
        name,
        Object.hasOwn(filtered, name) ? filtered[name] : plain,
      ])
      const orderable = !type.startsWith('[') && type !== 'JSON' && !unordered.includes(name)
      expect([name, types['valuesOrderBy']?.[name]]).toEqual([name, orderable ? 'OrderByDirection' : undefined])
    }
  })

  test('cursors contain what jsonb shows', async () => {
    const tricky = {
      numeric_long: ['NaN', 'Infinity', '-0.00', '1e-20', '1e30'],
      float8: ['1e20', '1e-7', '-0', 'Infinity'],
      text: ['', 'ü€😀', '\u0001\u001f\u007f\n\t/\u2028'],
      timestamptz: ['infinity', '4713-01-01 00:00:00+00 BC', '294276-12-31 23:59:59.999999+00'],
      date: ['-infinity', '5874897-12-31'],
    }
    for (const [name, values] of Object.entries(tricky))
      for (const value of values)
        await service.db.query(`insert into "values" (id, "${name}") values ($1, $2)`, [nextId(), value])
    const { valuesOrderBy = {} } = await shapes(['valuesOrderBy'])
    for (const { name, sql } of cases.filter((one) => valuesOrderBy[one.name] !== undefined)) {
      const query = `{ valuesCollection(orderBy: [{ ${name}: AscNullsLast }], filter: { ${name}: { is: NOT_NULL } }) { edges { cursor } } }`
      const { edges } = (await ask(query))['valuesCollection'] as { edges: readonly { cursor: string }[] }
      const shown = sql.startsWith('extensions.') ? `"${name}"::text` : `"${name}"`
      const { rows } = await service.db.query(
        `select jsonb_build_array(${shown}, id)::text as cursor from "values" where "${name}" is not null order by "${name}", id`,
      )
      expect(edges.length).toBeGreaterThan(0)
      const cursors = edges.map(({ cursor }) => Buffer.from(cursor, 'base64').toString())
      expect([name, cursors]).toEqual([name, rows.slice(0, edges.length).map((one) => one.cursor)])
    }
  })

  test('an integer beyond 2^53 in variables keeps its digits', async () => {
    expect(await ask('query ($a: BigInt!) { echo_int8(a: $a) }', { a: 9007199254740993n })).toEqual({
      echo_int8: '9007199254740993',
    })
  })

  test('types of extensions bring their own operators: citext compares without case', async () => {
    await ask('mutation { insertIntovaluesCollection(objects: { id: 100000, citext: "Word" }) { affectedCount } }')
    for (const filter of ['{ eq: "wORD" }', '{ like: "wo%" }', '{ in: ["WORD"] }', '{ gt: "woRc", lt: "WORe" }']) {
      const query = `{ valuesCollection(filter: { id: { eq: 100000 }, citext: ${filter} }) { edges { node { citext } } } }`
      expect([filter, await ask(query)]).toEqual([
        filter,
        { valuesCollection: { edges: [{ node: { citext: 'Word' } }] } },
      ])
    }
  })

  test('numbers that JSON cannot write are strings', async () => {
    const query =
      '{ outputsByPk(id: 1) { nan infinite minus_infinite nested mood numeric_list stamp stamptz composite_domain } }'
    expect(await ask(query)).toEqual({
      outputsByPk: {
        nan: 'NaN',
        infinite: 'Infinity',
        minus_infinite: '-Infinity',
        nested: [
          [1, 2],
          [3, 4],
        ],
        mood: 'on-off',
        numeric_list: ['1.50', null],
        stamp: 'infinity',
        stamptz: '2024-07-01T10:00:00.123456+00:00',
        composite_domain: { a: null, b: null },
      },
    })
  })

  test('composites, rows and domains over arrays are left out', async () => {
    const types = await shapes(['omitted', 'omittedInsertInput', 'omittedFilter'])
    expect(Object.keys(types['omitted'] ?? {})).toEqual(['nodeId', 'id'])
    expect(Object.keys(types['omittedInsertInput'] ?? {})).toEqual(['id'])
    expect(Object.keys(types['omittedFilter'] ?? {})).toEqual(['id', 'nodeId', 'and', 'or', 'not'])
  })

  test('dates and floats do not depend on what a session has set', async () => {
    const { ownerUrl } = service.db
    const database = new URL(ownerUrl).pathname.slice(1)
    await service.db.query(
      `alter database ${database} set DateStyle = 'German'; alter database ${database} set extra_float_digits = 0`,
    )
    const query =
      '{ outputsByPk(id: 1) { stamptz } echo_float8(a: 0.30000000000000004) echo_date(a: "2024-02-29") echo_bytea(a: "abc") }'
    expect(await ask(query)).toEqual({
      outputsByPk: { stamptz: '2024-07-01T10:00:00.123456+00:00' },
      echo_float8: 0.30000000000000004,
      echo_date: '2024-02-29',
      echo_bytea: '\\x616263',
    })
  })
})

/** Types of the fields of some types, as GraphQL writes them, from the revision's complete schema. */
async function shapes(names: readonly string[]): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> {
  const schema = buildView((await service.revision()).manifest, 'anon').complete()
  const found = names.map((name) => {
    const type = schema.getType(name) as { getFields(): Record<string, { type: unknown }> }
    return [
      name,
      Object.fromEntries(Object.entries(type.getFields()).map(([field, { type: of }]) => [field, String(of)])),
    ] as const
  })
  return Object.fromEntries(found)
}

describe('3.2 enums', () => {
  test('values come in the order of the type, mapped, unspellable labels left out', async () => {
    const type = buildView((await service.revision()).manifest, 'anon')
      .complete()
      .getType('mood') as any
    expect(type.getValues().map(({ name, description }: any) => [name, description ?? null])).toEqual([
      ['sad', null],
      ['GLAD', null],
    ])
  })

  test('strings are not enum values in documents, and are in variables', async () => {
    expect(await refusal('{ limitsCollection(filter: { mood: { eq: "GLAD" } }) { edges { cursor } } }')).toEqual([
      'Enum "mood" cannot represent non-enum value: "GLAD". Did you mean the enum value "GLAD"?',
    ])
    expect(
      await refusal('query ($m: mood) { limitsCollection(filter: { mood: { eq: $m } }) { edges { cursor } } }', {
        m: 'happy',
      }),
    ).toEqual(['Variable "$m" got invalid value "happy"; Value "happy" does not exist in "mood" enum.'])
  })
})

describe('3.3 JSON', () => {
  test('prints the text form; strings lose their quotes and JSON null is null', async () => {
    const { outputsCollection } = await ask('{ outputsCollection { edges { node { doc raw } } } }')
    expect(outputsCollection.edges.map(({ node }: any) => [node.doc, node.raw])).toEqual([
      ['abc', '{"a" :1}'],
      [null, 'q'],
      [null, null],
      ['[1, "x"]', null],
      ['1.50', null],
      ['true', null],
    ])
  })

  test('strings inside arrays keep their quotes', async () => {
    expect(await ask('{ outputsByPk(id: 1) { docs raws } }')).toEqual({
      outputsByPk: { docs: ['"s"', 'null', null, '{"b": 1}'], raws: [' {"a" :1}'] },
    })
  })

  test.each(['{a: 1}', '[1]', '1', 'true'])('refuses %s', async (literal) => {
    const query = `mutation { insertIntooutputsCollection(objects: [{ id: 9, doc: ${literal} }]) { affectedCount } }`
    expect(await refusal(query)).toEqual(['Invalid input for JSON type'])
  })

  test('has no filter, order or aggregate', async () => {
    const types = await shapes(['outputsFilter', 'outputsOrderBy'])
    for (const field of ['doc', 'raw', 'docs', 'raws']) {
      expect(types['outputsFilter']).not.toHaveProperty(field)
      expect(types['outputsOrderBy']).not.toHaveProperty(field)
    }
  })
})

describe('3.4 length rule', () => {
  const tooLong = (length: number): string => `Invalid input for String type. Maximum character length ${length}`
  const insert = (field: string, value: string) =>
    `mutation { insertIntolimitsCollection(objects: { id: ${nextId()}, ${field}: ${value} }) { records { ${field} } } }`

  test.each([
    ['short', 4],
    ['fixed', 3],
  ] as const)('%s takes %i characters and no more', async (field, length) => {
    expect(await ask(insert(field, quoted('x'.repeat(length))))).toEqual({
      insertIntolimitsCollection: { records: [{ [field]: 'x'.repeat(length) }] },
    })
    const long = 'x'.repeat(length + 1)
    expect(await refusal(insert(field, quoted(long)))).toEqual([tooLong(length)])
    const variable = `mutation ($v: String) { updatelimitsCollection(set: { ${field}: $v }, atMost: 99) { affectedCount } }`
    expect(await refusal(variable, { v: long })).toEqual([tooLong(length)])
    const objects = 'mutation ($o: [limitsInsertInput!]!) { insertIntolimitsCollection(objects: $o) { affectedCount } }'
    expect(
      await refusal(objects, {
        o: [
          { id: nextId(), [field]: 'a' },
          { id: nextId(), [field]: long },
        ],
      }),
    ).toEqual([tooLong(length)])
    for (const operand of ['eq', 'like', 'startsWith', 'regex']
      .map((name) => `{ ${name}: "${long}" }`)
      .concat(`{ in: ["b", "${long}"] }`)) {
      expect(await ask(`{ limitsCollection(filter: { ${field}: ${operand} }) { edges { cursor } } }`)).toEqual({
        limitsCollection: { edges: [] },
      })
    }
  })

  test('counts characters, as Postgres does', async () => {
    expect(await ask(insert('short', '"äöü😀"'))).toEqual({
      insertIntolimitsCollection: { records: [{ short: 'äöü😀' }] },
    })
  })

  test('no value is ever cut: what the rule does not cover, Postgres refuses', async () => {
    expect(await refusal(insert('shorts', '["abcd"]'))).toEqual(['value too long for type character varying(3)'])
    expect(await refusal(insert('fixeds', '["abcd"]'))).toEqual(['value too long for type character(3)'])
    expect(await refusal(insert('bits', '"10101"'))).toEqual(['bit string length 5 does not match type bit(3)'])
    expect(await refusal(insert('varbits', '"10101"'))).toEqual(['bit string too long for type bit varying(3)'])
    expect(await refusal(insert('short_domain', '"abcd"'))).toEqual(['value too long for type character varying(3)'])
    const update = 'mutation { updatelimitsCollection(set: { shorts: ["abcd"] }, atMost: 99) { affectedCount } }'
    expect(await refusal(update)).toEqual(['value too long for type character varying(3)'])
    await ask(insert('shorts', '["abc"]'))
    expect(await ask('{ limitsCollection(filter: { shorts: { contains: "abcd" } }) { edges { cursor } } }')).toEqual({
      limitsCollection: { edges: [] },
    })
  })

  test('does not hold for arguments', async () => {
    expect(await ask('{ short_arg(a: "a longer text", b: "abcdef") }')).toEqual({ short_arg: 'a longer text|abcdef' })
  })

  test('numbers are compared with all digits that were sent', async () => {
    await ask(insert('price', '"1.256"'))
    const query = (condition: string) =>
      `{ limitsCollection(filter: { price: ${condition} }) { edges { node { price } } } }`
    expect(await ask(query('{ eq: "1.260" }'))).toEqual({ limitsCollection: { edges: [{ node: { price: '1.26' } }] } })
    expect(await ask(query('{ eq: "1.2599" }'))).toEqual({ limitsCollection: { edges: [] } })
  })
})

describe('3.5 scalars and messages', () => {
  test('all scalars exist and none names a specification', async () => {
    const schema = buildView((await service.revision()).manifest, 'anon').complete()
    for (const name of scalarNames) {
      const type = schema.getType(name) as any
      expect([name, type?.specifiedByURL ?? null, typeof type?.description]).toEqual([name, null, 'string'])
    }
  })

  const readers: readonly (readonly [name: string, field: string])[] = [
    ['Date', 'date'],
    ['Time', 'time'],
    ['Datetime', 'timestamp'],
    ['UUID', 'uuid'],
  ]
  test.each(readers)('%s takes strings only', async (name, field) => {
    const message = `Invalid input for ${name} type`
    for (const literal of ['1', 'true', 'word', '1.5', '{a: 1}']) {
      expect(
        await refusal(`{ valuesCollection(filter: { ${field}: { eq: ${literal} } }) { edges { cursor } } }`),
      ).toEqual([message])
    }
    const query = `query ($v: ${name}) { valuesCollection(filter: { ${field}: { eq: $v } }) { edges { cursor } } }`
    expect(await refusal(query, { v: 1 })).toEqual([`Variable "$v" got invalid value 1; ${message}`])
  })

  test('Cursor takes strings only', async () => {
    expect(await refusal('{ valuesCollection(after: 1) { edges { cursor } } }')).toEqual([
      'Invalid input for Cursor type',
    ])
  })

  test('BigInt takes strings and numbers, BigFloat strings', async () => {
    const query = (filter: string) => `{ valuesCollection(filter: ${filter}) { edges { cursor } } }`
    expect(await refusal(query('{ int8: { eq: true } }'))).toEqual(['Invalid input for BigInt type'])
    expect(await refusal(query('{ numeric: { eq: 1 } }'))).toEqual(['Invalid input for BigFloat type. String required'])
    expect(await refusal(query('{ numeric: { in: [1.5] } }'))).toEqual([
      'Invalid input for BigFloat type. String required',
    ])
  })

  test('a literal that does not fit is refused with its place', async () => {
    const query = (filter: string) => `{ valuesCollection(filter: { ${filter} }) { edges { cursor } } }`
    for (const filter of [
      'date: { eq: 1',
      'int8: { eq: true',
      'numeric: { eq: 1',
      'domain: { eq: [1]',
      'int4: { eq: "1"',
    ]) {
      const document = query(`${filter} }`)
      const { errors = [] } = (await service.graphql(document)) as { errors?: readonly { locations?: unknown }[] }
      const column = document.indexOf('{ eq: ') + '{ eq: '.length + 1
      expect(errors.map(({ locations }) => locations)).toEqual([[{ line: 1, column }]])
    }
  })

  test('Opaque takes any scalar', async () => {
    const query = (value: string) => `{ valuesCollection(filter: { domain: { eq: ${value} } }) { edges { cursor } } }`
    for (const literal of ['1', '"1"']) expect(await ask(query(literal))).toHaveProperty('valuesCollection')
    expect(await refusal(query('[1]'))).toEqual(['Unexpected array in input value array'])
    expect(await refusal(query('{a: 1}'))).toEqual(['Unexpected object in input value'])
  })

  test('Postgres judges the meaning of a text', async () => {
    const query = (filter: string) => `{ valuesCollection(filter: ${filter}) { edges { cursor } } }`
    expect(await refusal(query('{ date: { eq: "soon" } }'))).toEqual(['invalid input syntax for type date: "soon"'])
    expect(await refusal(query('{ uuid: { eq: "1" } }'))).toEqual(['invalid input syntax for type uuid: "1"'])
    expect(await refusal(query('{ int8: { eq: 1.5 } }'))).toEqual(['invalid input syntax for type bigint: "1.5"'])
    expect(await refusal(query('{ int2: { eq: 70000 } }'))).toEqual(['value "70000" is out of range for type smallint'])
    expect(
      await refusal('mutation { insertIntovaluesCollection(objects: { id: 0, jsonb: "{" }) { affectedCount } }'),
    ).toEqual(['invalid input syntax for type json'])
  })
})
