import { apiOf } from '../../interpreter/api.ts'
import {
  grantsOf,
  type BaseType,
  type ColumnSketch,
  type ColumnType,
  type FunctionBody,
  type FunctionSketch,
  type TableSketch,
  type World,
} from '../../interpreter/world.ts'
import { roles } from './roles.ts'
import { fresh, type Draw } from '../../questions/draw.ts'
import { argumentNames, fieldOverrides, functionNames } from './names.ts'
import { drawValue, orDomain } from '../../questions/values.ts'

/** Types that may be an argument or a result of a function (spec/graphql.md 9.1). */
const plainBases: readonly BaseType[] = ['int4', 'text', 'int8', 'bool', 'numeric', 'timestamptz', 'date', 'uuid']
const isPlain = ({ type }: ColumnSketch): boolean => plainBases.includes(type.base)

/** Adds functions over the tables that every role may read as a whole. */
export function withFunctions(draw: Draw, world: World): World {
  const whole = world.tables.filter((table) =>
    roles.every(
      (role) =>
        grantsOf(table, role).select === 'all' && apiOf(world, role).tables.some((item) => item.sketch === table),
    ),
  )
  const names = new Set<string>()
  const functions = Array.from({ length: draw.int(5) }, (): FunctionSketch => {
    const body = drawBody(draw, world, whole)
    return {
      name: fresh(draw, names, functionNames),
      field: draw.chance(15) ? draw.pick(fieldOverrides) : null,
      volatile: (body.kind === 'sum' || body.kind === 'echo' || body.kind === 'void') && draw.chance(40),
      execute: draw.chance(15) ? draw.pick(roles) : null,
      body,
    }
  })
  return { ...world, functions: withOverloads(draw, names, functions) }
}

/** Further functions of the same names, distinguished only by argument types and comments. */
function withOverloads(
  draw: Draw,
  names: Set<string>,
  functions: readonly FunctionSketch[],
): readonly FunctionSketch[] {
  const named = (): string | null => (draw.chance(80) ? fresh(draw, names, functionNames) : null)
  return functions.flatMap((fn): readonly FunctionSketch[] => {
    const { body } = fn
    if ((body.kind !== 'echo' && body.kind !== 'sum' && body.kind !== 'void') || !draw.chance(25)) return [fn]
    // A call without an argument would be ambiguous.
    if ('fallback' in body && body.kind === 'echo') return [fn]
    const taken = body.kind === 'echo' ? body.type : int
    const type = drawPlain(draw)
    if (type.base === taken.base && type.list === taken.list) return [fn]
    const argument = body.kind === 'sum' ? body.a : body.argument
    return [
      { ...fn, field: named() },
      { ...fn, field: named(), volatile: draw.chance(30), body: { kind: 'echo', argument, type } },
    ]
  })
}

const int: ColumnType = { base: 'int4', list: false, enum: null }

function drawBody(draw: Draw, world: World, tables: readonly TableSketch[]): FunctionBody {
  const form = tables.length === 0 ? draw.int(3) : draw.pick([0, 3, 4, 5, 6, 1, 2])
  const names = new Set<string>()
  const shapes = world.functionShapes === true
  const argument = (): string => (shapes && draw.chance(35) ? '' : fresh(draw, names, argumentNames))
  switch (form) {
    case 0:
      return { kind: 'sum', a: argument(), b: argument(), fallback: draw.chance(60) ? draw.pick([5, 0]) : null }
    case 1:
      return withDefault(draw, world, {
        ...{ kind: 'echo', argument: argument() },
        type: orEnum(draw, world, orDomain(draw, world, drawPlain(draw))),
      })
    case 2:
      return { kind: 'void', argument: argument() }
    default:
      return (
        drawOverTable(draw, world, tables, form, argument) ?? {
          kind: 'echo',
          argument: argument(),
          type: drawPlain(draw),
        }
      )
  }
}

type Echo = Extract<FunctionBody, { kind: 'echo' }>

/** Often with a default: texts and lists with commas, null, and values without a GraphQL literal. */
const withDefault = (draw: Draw, world: World, body: Echo): Echo =>
  draw.chance(55) && body.type.domain === undefined && body.type.elementDomain === undefined
    ? { ...body, fallback: draw.chance(10) ? null : drawValue(draw, world, body.type) }
    : body

const drawPlain = (draw: Draw): ColumnType => ({ base: draw.pick(plainBases), list: draw.chance(20), enum: null })

/** With function shapes occasionally an enum instead of the type. */
function orEnum(draw: Draw, world: World, type: ColumnType): ColumnType {
  const [kind] = world.enums
  if (world.functionShapes !== true || kind === undefined || !draw.chance(35)) return type
  return { base: 'enum', list: draw.chance(30), enum: kind.name }
}

function drawOverTable(
  draw: Draw,
  world: World,
  tables: readonly TableSketch[],
  form: number,
  argument: () => string,
): FunctionBody | null {
  const table = draw.pick(tables)
  const flags = table.columns.filter(({ type }) => type.base === 'bool' && !type.list)
  const columns = table.columns.filter(isPlain)
  const numbers = columns.filter(({ type }) => type.base === 'int4' && !type.list && type.domain === undefined)
  if (form === 3)
    return {
      kind: 'rows',
      table: table.name,
      flag: flags[0]?.name ?? null,
      argument: draw.chance(30) ? argument() || 'a' : null,
    }
  if (columns.length === 0) return null
  const column = draw.pick(columns)
  if (form === 4) return { kind: 'row', table: table.name, column: column.name, argument: argument() || 'a' }
  if (form === 5) return drawComputed(draw, world, table, column, numbers, argument)
  const target = draw.pick(tables)
  const same = target.columns.filter(
    ({ type: { base, list, collated } }) =>
      base === column.type.base && list === column.type.list && collated === column.type.collated,
  )
  if (same.length === 0) return null
  const kind = draw.chance(40) ? 'computedRow' : 'computedRows'
  const takes = kind === 'computedRows' && world.functionShapes === true && draw.chance(50)
  return {
    kind,
    table: table.name,
    column: column.name,
    target: target.name,
    targetColumn: draw.pick(same).name,
    ...(takes && { argument: argument() }),
  }
}

/** The value of a column, which with function shapes may be an enum, or one together with an argument. */
function drawComputed(
  draw: Draw,
  world: World,
  table: TableSketch,
  column: ColumnSketch,
  numbers: readonly ColumnSketch[],
  argument: () => string,
): FunctionBody {
  const enums = table.columns.filter(({ type }) => type.base === 'enum')
  const chosen = world.functionShapes === true && enums.length > 0 && draw.chance(50) ? draw.pick(enums) : column
  if (world.functionShapes !== true || numbers.length === 0 || !draw.chance(40))
    return { kind: 'computed', table: table.name, column: chosen.name }
  return { kind: 'computedSum', table: table.name, column: draw.pick(numbers).name, argument: argument() }
}
