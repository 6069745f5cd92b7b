import { compositeNamed, type BaseType, type ColumnType, type Value, type World } from '../interpreter/world.ts'
import type { Draw } from './draw.ts'

/** Few values of each type, so that ties are common; the plainest stands first. */
const pools: Readonly<
  Record<Exclude<BaseType, 'enum' | 'composite' | 'other'>, readonly (string | number | boolean)[]>
> = {
  int2: [1, 2, 3, 0, -1, 7],
  float8: [1, 1.5, 0, -2.25],
  int4: [1, 2, 3, 0, -1, 7, 2147483647, -2147483648],
  int8: ['1', '2', '0', '-5', '9007199254740993', '9223372036854775807', '-9223372036854775808'],
  text: [
    'a',
    'b',
    '',
    'A',
    'ab',
    'a%b',
    'a_b',
    'a\\b',
    'é',
    'É',
    '"q"',
    "it's",
    '日本',
    '😀',
    'null',
    'NULL',
    '{}',
    'a,b',
    ' ',
    'x\ny',
    '$1',
    '[1, 2]',
    '\u{ffff}',
    '*/ --',
    'a'.repeat(70),
  ],
  'varchar(5)': ['a', 'b', '', 'ab', 'ééééé', 'a b', '😀😀😀😀😀', 'null'],
  bool: [true, false],
  numeric: ['1', '1.0', '1.50', '0', '-2.25', '0.000000000000000000001', '99999999999999999999.5', '10'],
  'numeric(8,2)': ['1.00', '1.50', '0.00', '-2.25', '123456.78'],
  timestamptz: [
    '2024-01-01T00:00:00+00:00',
    '2024-01-01T00:00:00.5+00:00',
    '1999-12-31T23:59:59.999+00:00',
    '2038-01-19T03:14:08+00:00',
  ],
  timestamp: ['2024-01-01T00:00:00', '2024-01-01T00:00:00.5', '1999-12-31T23:59:59.999999'],
  time: ['00:00:00', '18:23:00', '23:59:59.999999'],
  date: ['2024-01-01', '2024-02-29', '1999-12-31'],
  geometry: [
    ...[
      [1, 1],
      [2, 1],
      [0, 0],
      [4, 3],
    ].map((coordinates) => JSON.stringify({ type: 'Point', coordinates })),
    ...[
      [0, 0, 2],
      [1, 1, 1],
      [1, 0, 3],
      [4, 3, 2],
    ].map(([x = 0, y = 0, size = 1]) => {
      const corners = [
        [x, y],
        [x + size, y],
        [x + size, y + size],
        [x, y + size],
        [x, y],
      ]
      return JSON.stringify({ type: 'Polygon', coordinates: [corners] })
    }),
  ],
  jsonb: [
    '{"a": 1}',
    '{"a": "x", "b": [1, "x", null]}',
    '[1, "a", {"a": 1}]',
    '"a"',
    '1',
    'null',
    '{}',
    '[]',
    '{"a": {"b": true}}',
    '{"a": null, "b": "x"}',
    'true',
    '[["a"], "b"]',
    '{"": "a", "a": 1.5, "b": [1, 2]}',
    '{"a": [1, {"b": 2}]}',
  ],
  tsvector: ["'a':1 'b':2", "'a':1,3 'b':2", "'b':1 'x':2", "'a':2 'x':1", ''],
  int4range: ['[1,5)', '[3,8)', 'empty', '(,3)', '[5,)', '(,)', '[5,6)', '[8,9)'],
  int4multirange: ['{[1,5)}', '{[1,3),[5,8)}', '{}', '{(,1),[3,)}', '{(,)}', '{[8,9)}'],
  bytea: ['\\x', '\\x00', '\\x00ff', '\\x61', '\\xff'],
  ltree: ['a', 'a.b', 'a.b.c', 'b', 'b.a', '', 'a.c', 'c.b.a'],
  inet: ['10.0.0.1', '10.0.0.0/8', '10.1.0.0/16', '10.1.2.3/16', '192.168.0.1/24', '::1', '2001:db8::/32', '0.0.0.0/0'],
  uuid: [
    '00000000-0000-4000-8000-000000000001',
    '00000000-0000-4000-8000-000000000002',
    'ffffffff-ffff-4fff-bfff-ffffffffffff',
  ],
}

/** Values that every numeric can hold, whatever its precision. */
const scaled = ['0', '1']

export function poolOf(world: Pick<World, 'enums'>, type: ColumnType): readonly (string | number | boolean)[] {
  if (type.base === 'composite' || type.base === 'other') return []
  if (type.base === 'enum') return world.enums.find((item) => item.name === type.enum)?.labels ?? []
  if (type.scale !== undefined) return scaled
  const { length = Number.POSITIVE_INFINITY } = type
  return pools[type.base].filter((value) => typeof value !== 'string' || Buffer.byteLength(value) <= length)
}

/** A value of the type that is not null; lists may contain nulls if `nulls` is true. */
export function drawValue(
  draw: Draw,
  world: Pick<World, 'enums' | 'composites'>,
  type: ColumnType,
  nulls = true,
): Exclude<Value, null> {
  if (type.base === 'composite') {
    const cells = compositeNamed(world, type).attributes.map(({ name, type: inner }) => [
      name,
      draw.chance(30) ? null : drawValue(draw, world, inner),
    ])
    return Object.fromEntries(cells) as Exclude<Value, null>
  }
  const pool = poolOf(world, type)
  if (!type.list) return draw.pick(pool)
  if (pool.length === 0) return []
  return Array.from({ length: draw.int(4) }, () => (nulls && draw.chance(25) ? null : draw.pick(pool)))
}

/** Occasionally a domain instead of the type, or a list of one. */
export function orDomain(draw: Draw, world: Pick<World, 'domains'>, type: ColumnType): ColumnType {
  const domains = world.domains ?? []
  if (domains.length === 0 || !draw.chance(30)) return type
  const { name, type: under } = draw.pick(domains)
  return under.list || !draw.chance(50) ? { ...under, domain: name } : { ...under, list: true, elementDomain: name }
}
