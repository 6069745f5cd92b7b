import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCompiler } from '../../../compiler/compile.ts'
import type { CallBuilder, ColumnBuilder, EntityBuilder } from '../../../runtime/contract/builder.ts'
import { objectId } from '../../../runtime/contract/facts.ts'
import { evaluateModule } from '../../../runtime/engine/load.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import { createDatabase, majors, type TestDatabase } from '../../support/database.ts'

/** Column type, the value as it comes in (text, or an array of texts), and as it prints in JSON. */
const values = [
  ['int2', '7', 7],
  ['int4', '7', 7],
  ['int8', '9007199254740993', '9007199254740993'],
  ['numeric(6,2)', '25.10', '25.10'],
  ['float8', 'NaN', 'NaN'],
  ['float4', '25', 25],
  ['bool', 'true', true],
  ['text', 'a\\b"c\'d', 'a\\b"c\'d'],
  ['varchar(8)', 'abcdefgh', 'abcdefgh'],
  ['char(4)', 'ab', 'ab  '],
  ['"char"', 'x', 'x'],
  ['name', 'n', 'n'],
  ['uuid', '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000001'],
  ['date', '2024-02-29', '2024-02-29'],
  ['time', '18:23:00', '18:23:00'],
  ['timetz(2)', '18:23:00+02', '18:23:00+02'],
  ['timestamp(3)', '2000-01-01 18:00:00', '2000-01-01T18:00:00'],
  ['timestamptz', '2000-01-01 18:00:00+00', '2000-01-01T18:00:00+00:00'],
  ['interval day to second(3)', '1 day 02:00:00', '1 day 02:00:00'],
  ['bytea', '\\x0102', '\\x0102'],
  ['bit(3)', '101', '101'],
  ['varbit(5)', '101', '101'],
  ['inet', '10.0.0.1', '10.0.0.1'],
  ['money', '$1.00', '$1.00'],
  ['int4range', '[1,5)', '[1,5)'],
  ['jsonb', '{"a": [1, null]}', '{"a": [1, null]}'],
  ['"Mood"', 'so-so', 'SO_SO'],
  ['positive', '3', 3],
  ['int4[]', ['1', null], [1, null]],
  ['int8[]', ['9007199254740993'], ['9007199254740993']],
  ['numeric(6,2)[]', ['1.50'], ['1.50']],
  ['text[]', ['a,b', 'c"d', ''], ['a,b', 'c"d', '']],
  ['varchar(8)[]', ['abc'], ['abc']],
  ['jsonb[]', ['{"a": 1}', '"s"'], ['{"a": 1}', '"s"']],
  ['"Mood"[]', ['so-so'], ['so-so']],
  ['timestamp(3)[]', ['2000-01-01 18:00:00'], ['2000-01-01T18:00:00']],
  ['interval[]', ['1 day'], ['1 day']],
] as const

/** Values that json and jsonb may be suspected to print each in its own way. */
const tricky: readonly (readonly [type: (typeof values)[number][0], value: string])[] = [
  ...['NaN', 'Infinity', '-0.00', '1e-20', '1e30'].map((value) => ['numeric(6,2)', value] as const),
  ...['1e20', '1e-7', '-0', 'Infinity'].map((value) => ['float8', value] as const),
  ...['', 'ü€😀', '\u0001\u001f\u007f\n\t/\u2028'].map((value) => ['text', value] as const),
  ...['infinity', '4713-01-01 00:00:00+00 BC', '294276-12-31 23:59:59.999999+00'].map(
    (value) => ['timestamptz', value] as const,
  ),
  ...['-infinity', '5874897-12-31'].map((value) => ['date', value] as const),
  ['jsonb', '{"b": [1.0, "x"], "a": {}}'],
  ['int4[]', '{{1,2},{3,4}}'],
  ['text[]', '{}'],
]

const name = (index: number): string => `col "${index}" 'x' \\ $$`

describe.each(majors())('builders on PostgreSQL %i', (major) => {
  let database: TestDatabase
  let entity: EntityBuilder
  let boxed: EntityBuilder
  let documents: EntityBuilder
  let calls: Readonly<Record<string, CallBuilder>>
  const column = (index: number): ColumnBuilder => entity.columns[name(index)] as ColumnBuilder
  const one = async (sql: string, given: readonly unknown[] = []): Promise<unknown> =>
    (await database.query(sql, given)).rows[0]?.v
  const text = (value: string | readonly (string | null)[]): string =>
    typeof value === 'string'
      ? value
      : `{${value.map((item) => (item === null ? 'null' : `"${item.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`

  beforeAll(async () => {
    const columns = values.map(([type], index) => `${ident(name(index))} ${type}`)
    database = await createDatabase({
      major,
      sql: `create type "Mood" as enum ('happy', 'so-so');
        comment on type "Mood" is '@graphql({"mappings": {"so-so": "SO_SO"}})';
        create domain positive as int check (value > 0);
        create table "Every ""Type" (id int primary key, ${columns.join(', ')});
        comment on table "Every ""Type" is '@graphql({"name": "Every"})';
        create table documents (id int primary key, a json, b jsonb);
        create table boxed (id int primary key, "box" box, boxes box[]);
        create function "twice of"("Every ""Type") returns bigint language sql stable return $1.id * 2;
        comment on function "twice of" is '@graphql({"name": "twice"})';
        create function concat_all("List" text[], "Sep" text default '-') returns text language sql immutable
          return array_to_string($1, $2);
        comment on function concat_all is '@graphql({"name": "concatAll"})';
        create function total("n" int8, boxes box[] default null) returns int8 language sql immutable
          return n + cardinality(boxes);
        insert into boxed values (1, '(1,1),(0,0)', '{(2,2),(1,1);(4,4),(3,3)}');`,
    })
    await database.query("set time zone 'UTC'")
    const { revision, diagnostics } = await createCompiler({
      query: database.query,
      schemas: ['public'],
      version: null,
    }).compile()
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
    const textOf = (wanted: string): string => revision.entities.find(({ id }) => id === wanted)?.text ?? ''
    entity = evaluateModule(textOf(objectId('public', 'Every "Type')), 'every') as EntityBuilder
    calls = evaluateModule(revision.functions, 'functions') as typeof calls
    boxed = evaluateModule(textOf(objectId('public', 'boxed')), 'boxed') as EntityBuilder
    documents = evaluateModule(textOf(objectId('public', 'documents')), 'documents') as EntityBuilder
    const record = Object.fromEntries(values.map(([, value], index) => [`c${index}`, value]))
    await database.query(
      `insert into ${entity.relation} (id, ${values.map((_, index) => ident(name(index))).join(', ')})
       select 1, ${values.map((_, index) => column(index).fromRecord(`x.c${index}`)).join(', ')}
       from json_to_recordset($1::json)
         as x(${values.map((_, index) => `c${index} ${column(index).recordType}`).join(', ')})`,
      [JSON.stringify([record])],
    )
  })
  afterAll(() => database.drop())

  it.each(values.map(([type, , printed], index) => [type, printed, index] as const))(
    'prints %s',
    async (_, printed, index) => {
      const value = column(index).json(column(index).of('t'))
      expect(
        JSON.parse(
          String(await one(`select row_to_json(z)::text as v from (select ${value} as c from ${entity.relation} t) z`)),
        ),
      ).toEqual({ c: printed })
    },
  )

  it.each(
    values.map(([type, value], index) => [type, value, index] as const).filter(([type]) => !/^float8/.test(type)),
  )('finds %s by its text', async (type, value, index) => {
    const { of, operand, operands } = column(index)
    const scalar = typeof value === 'string'
    const list = scalar ? ` and ${of('t')} = any (${operands('$2')})` : ''
    const given = scalar ? [text(value), text([value])] : [text(value)]
    expect(
      await one(
        `select count(*)::int as v from ${entity.relation} t where ${of('t')} = ${operand('$1')}${list}`,
        given,
      ),
      type,
    ).toBe(1)
  })

  it('orders and makes cursors of every type', async () => {
    for (let index = 0; index < values.length; index++) {
      const { of, cursor } = column(index)
      const value = `json_build_array(${cursor(of('t'))})::text`
      const sql = `select ${value} = jsonb_build_array(${of('t')})::text as v from ${entity.relation} t order by ${of('t')}`
      expect(await one(sql), values[index]?.[0]).toBe(true)
    }
  })

  it.each(tricky)('shows in cursors of %s what jsonb shows of %s', async (type, value) => {
    const { cursor } = column(values.findIndex(([name]) => name === type))
    const given = `${literal(value)}::${type.replace(/\(.*\)/, '')}`
    expect(await one(`select json_build_array(${cursor(given)})::text as v`)).toBe(
      await one(`select jsonb_build_array(${given})::text as v`),
    )
  })

  it('makes node ids (7.1)', async () => {
    const id = await one(`select ${entity.nodeId(['t.id'])} as v from ${entity.relation} t`)
    expect(Buffer.from(String(id), 'base64').toString('utf8')).toBe('["public", "Every \\"Type", 1]')
    expect(id).not.toContain('\n')
  })

  it('calls computed fields and functions', async () => {
    const twice = entity.computed[objectId('public', 'twice of')]
    expect(await one(`select ${twice?.json(twice.of('t', []))} as v from ${entity.relation} t where id = 1`)).toBe('2')
    const concat = calls[objectId('public', 'concat_all')]
    const [list, sep] = Object.values(concat?.args ?? {})
    expect(await one(`select ${concat?.name}(${list?.('$1')}) as v`, ['{a,b}'])).toBe('a-b')
    expect(await one(`select ${concat?.name}(${sep?.('$1')}, ${list?.('$2')}) as v`, ['+', '{a,b}'])).toBe('a+b')
    const total = calls[objectId('public', 'total')]
    expect(
      await one(
        `select ${total?.json(`${total.name}(${total.args['n']?.('$1')}, ${total.args['boxes']?.('$2')})`)} as v`,
        ['40', '{"(1,1),(0,0)","(2,2),(0,0)"}'],
      ),
    ).toBe('42')
  })

  it('reads and writes arrays whose delimiter is no comma', async () => {
    const { boxes, box } = boxed.columns
    expect(
      await one(
        `select ${boxes?.json(boxes.of('t'))}::text as v from boxed t
          where ${boxes?.of('t')}::text = (${boxes?.operand('$1')})::text`,
        ['{"(2,2),(1,1)","(4,4),(3,3)"}'],
      ),
    ).toBe('{(2,2),(1,1);(4,4),(3,3)}')
    expect(
      await one(`select count(*)::int as v from boxed t where ${box?.of('t')} ~= any (${box?.operands('$1')})`, [
        '{"(1,1),(0,0)"}',
      ]),
    ).toBe(1)
    const record = [{ boxes: ['(6,6),(5,5)', '(8,8),(7,7)'] }]
    expect(
      await one(
        `select ${boxes?.fromRecord('x.boxes')}::text as v
          from json_to_recordset($1::json) as x(boxes ${boxes?.recordType})`,
        [JSON.stringify(record)],
      ),
    ).toBe('{(6,6),(5,5);(8,8),(7,7)}')
  })

  it.each([
    ['"abc"', 'abc', 'abc'],
    ['null', null, null],
    [' {"a":  1} ', '{"a":  1}', '{"a": 1}'],
    ['[1, "x"]', '[1, "x"]', '[1, "x"]'],
    ['1.50', '1.50', '1.50'],
  ])('prints the document %s as text (3.3)', async (document, json, jsonb) => {
    await database.query('delete from documents')
    await database.query('insert into documents values (1, $1::text::json, $1::text::jsonb)', [document])
    const { a, b } = documents.columns
    const { rows } = await database.query(
      `select ${a?.json(a.of('t'))} as a, ${b?.json(b.of('t'))} as b from documents t`,
    )
    expect(rows[0]).toEqual({ a: json, b: jsonb })
  })

  it('quotes names and constants whatever standard_conforming_strings says', async () => {
    const odd = `a'b\\'c"d\\`
    for (const setting of ['on', 'off']) {
      await database.query(`set standard_conforming_strings = ${setting}`)
      expect(await one(`select ${literal(odd)} as v`)).toBe(odd)
      const { fields } = await database.query(`select 1 as ${ident(odd)}`)
      expect(fields[0]?.name).toBe(odd)
    }
    await database.query('set standard_conforming_strings = on')
  })
})
