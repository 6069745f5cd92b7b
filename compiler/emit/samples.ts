import type {
  Attributes,
  CallBuilder,
  ColumnBuilder,
  ComputedBuilder,
  EntityBuilder,
} from '../../runtime/contract/builder.ts'
import { ident } from '../../runtime/sql/ident.ts'
import { operators, ownOperators } from '../../runtime/sql/operators.ts'

/** Statements that use every function of a builder once, in the positions of the runtime. */

/** The functions of a type, which columns of many entities have. */
export type TypeBuilder = Omit<ColumnBuilder, 'of' | 'notNull' | 'attributes'>

export interface SqlSample {
  /** The subject of the statement within the builder's object: `column "id"`. */
  readonly part: string
  readonly sql: string
}

/** Those of an entity; `typeSample` covers the parts that depend on its columns' types only. */
export const entitySamples = (builder: EntityBuilder): readonly SqlSample[] => [
  ...Object.entries(builder.arbiters ?? {}).map(([key, target]) => ({
    part: `its unique key ${key}`,
    sql: `insert into ${builder.relation} as t default values ${target} do nothing`,
  })),
  ...(builder.presets ?? []).map((preset) => ({ part: 'a preset', sql: `select ${preset}` })),
  ...(builder.tenant === undefined ? [] : [{ part: 'its tenant', sql: `select ${builder.tenant}` }]),
  { part: 'its columns', sql: readSample(builder) },
  { part: 'an insert', sql: insertSample(builder) },
  { part: 'a delete', sql: deleteSample(builder) },
  { part: 'a join', sql: joinSample(builder) },
  ...Object.entries(builder.columns).flatMap(([name, { of, attributes }]) =>
    attributeSamples(builder.relation, attributes, of('t'), name),
  ),
  ...Object.entries(builder.computed).map(([id, computed]) => ({
    part: `computed field ${id}`,
    sql: computedSample(builder, computed),
  })),
]

function computedSample({ relation }: EntityBuilder, computed: ComputedBuilder): string {
  const { of, json, args = {}, operand, operands, spatial = {} } = computed
  const call = of('t', passed(args))
  const isFiltered = operand !== undefined && operands !== undefined
  const tests = isFiltered ? ` where ${conditions(call, { operand, operands, spatial })}` : ''
  return `select row_to_json(z) from (select ${json(call)} as v from ${relation} t${tests}) z`
}

const passed = (args: CallBuilder['args']): readonly string[] =>
  Object.values(args).map((argument, index) => argument(`$${index + 1}`))

const attributeSamples = (
  relation: string,
  attributes: Attributes | undefined,
  value: string,
  part: string,
): readonly SqlSample[] =>
  Object.entries(attributes ?? {}).flatMap(([name, attribute]) => {
    const inner = attribute.of(value)
    const path = `${part}.${name}`
    const sql = `select ${attribute.json(inner)} from ${relation} t where ${conditions(inner, attribute)}`
    return [{ part: path, sql }, ...attributeSamples(relation, attribute.attributes, inner, path)]
  })

const columnSamples = ({ columns }: EntityBuilder, row: string): readonly string[] =>
  Object.values(columns).map(({ of }) => of(row))

function readSample(builder: EntityBuilder): string {
  const columns = columnSamples(builder, 't').join(', ')
  return `select ${columns} from ${builder.relation} t order by ${columns} limit 2`
}

function insertSample(builder: EntityBuilder): string {
  const names = Object.keys(builder.columns).map(ident).join(', ')
  return `with i as (insert into ${builder.relation} as t (${names}) select x.* from x returning t.*)
    select ${columnSamples(builder, 'i').join(', ')} from i`
}

function deleteSample(builder: EntityBuilder): string {
  const key = columnSamples(builder, 'd').slice(0, longestKey)
  return `with d as (delete from ${builder.relation} t returning t.*) select ${builder.nodeId(key)} from d`
}

/** INDEX_MAX_KEYS of PostgreSQL. */
const longestKey = 32

/** The purposes of a type's functions: reading, comparing by each operator, ordering, and writing. */
export function typeSample(column: TypeBuilder): string {
  const tests = [
    conditions('t.c', column),
    ...Object.values(column.order ?? {}).map((by) => `t.c ${by} ${column.operand('$3')}`),
  ].join(' and ')
  return `with u as (
      update t set c = ${column.fromRecord('x.c')} from json_to_recordset($1::json) as x(c ${column.recordType})
      where ${tests} returning t.*
    ) select ${column.json('u.c')}, json_build_array(${column.cursor('u.c')}) from u order by u.c desc`
}

const conditions = (subject: string, type: Pick<ColumnBuilder, 'operand' | 'operands' | 'order' | 'spatial'>): string =>
  [
    ...Object.values(operators).map(({ operand, render }) => {
      const value = type.operand('$3')
      const pattern = type.order?.['~~'] === undefined ? '$3::text' : value
      const given = { presence: 'not null', values: type.operands('$2'), value, pattern }[operand]
      return render(subject, given, ownOperators(type.order))
    }),
    ...Object.values(type.spatial ?? {}).map((decides) => `${decides}(${subject}, ${type.operand('$3')})`),
  ].join(' and ')

/** Relations join by equal columns; the manifest has the columns. */
function joinSample({ relation, columns }: EntityBuilder): string {
  const equal = Object.values(columns)
    .slice(0, longestKey)
    .map(({ of }) => `${of('f')} = ${of('l')}`)
  return `select (select row_to_json(f) from ${relation} f where ${equal.join(' and ')}) from ${relation} l`
}

export function callSample(call: CallBuilder): SqlSample {
  return { part: 'call', sql: `select ${call.json('r.v')} from ${call.name}(${passed(call.args).join(', ')}) as r(v)` }
}
