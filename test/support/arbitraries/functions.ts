import { apiOf } from '../interpreter/api.ts'
import {
  roles,
  type BaseType,
  type ColumnSketch,
  type ColumnType,
  type FunctionBody,
  type FunctionSketch,
  type TableSketch,
  type World,
} from '../interpreter/world.ts'
import { fresh, type Draw } from './draw.ts'
import { argumentNames, fieldOverrides, functionNames } from './names.ts'
import { orDomain } from './values.ts'

/** Types that may be an argument or a result of a function (spec/graphql.md 9.1). */
const plainBases: readonly BaseType[] = ['int4', 'text', 'int8', 'bool', 'numeric', 'timestamptz', 'date', 'uuid']
const isPlain = ({ type }: ColumnSketch): boolean => plainBases.includes(type.base)

/** Adds functions over the tables that every role may read as a whole. */
export function withFunctions(draw: Draw, world: World): World {
  const whole = world.tables.filter((table) =>
    roles.every(
      (role) => table.grants[role].select === 'all' && apiOf(world, role).tables.some((item) => item.sketch === table),
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
  return { ...world, functions }
}

function drawBody(draw: Draw, world: World, tables: readonly TableSketch[]): FunctionBody {
  const form = tables.length === 0 ? draw.int(3) : draw.pick([0, 3, 4, 5, 6, 1, 2])
  const names = new Set<string>()
  const argument = (): string => fresh(draw, names, argumentNames)
  switch (form) {
    case 0:
      return { kind: 'sum', a: argument(), b: argument(), fallback: draw.chance(60) ? draw.pick([5, 0]) : null }
    case 1:
      return { kind: 'echo', argument: argument(), type: orDomain(draw, world, drawPlain(draw)) }
    case 2:
      return { kind: 'void', argument: argument() }
    default:
      return (
        drawOverTable(draw, tables, form, argument) ?? { kind: 'echo', argument: argument(), type: drawPlain(draw) }
      )
  }
}

const drawPlain = (draw: Draw): ColumnType => ({ base: draw.pick(plainBases), list: draw.chance(20), enum: null })

function drawOverTable(
  draw: Draw,
  tables: readonly TableSketch[],
  form: number,
  argument: () => string,
): FunctionBody | null {
  const table = draw.pick(tables)
  const flags = table.columns.filter(({ type }) => type.base === 'bool' && !type.list)
  const columns = table.columns.filter(isPlain)
  if (form === 3)
    return {
      kind: 'rows',
      table: table.name,
      flag: flags[0]?.name ?? null,
      argument: draw.chance(30) ? argument() : null,
    }
  if (columns.length === 0) return null
  const column = draw.pick(columns)
  if (form === 4) return { kind: 'row', table: table.name, column: column.name, argument: argument() }
  if (form === 5) return { kind: 'computed', table: table.name, column: column.name }
  const target = draw.pick(tables)
  const same = target.columns.filter(({ type }) => type.base === column.type.base && type.list === column.type.list)
  if (same.length === 0) return null
  return {
    kind: draw.chance(40) ? 'computedRow' : 'computedRows',
    table: table.name,
    column: column.name,
    target: target.name,
    targetColumn: draw.pick(same).name,
  }
}
