import type { Api, ApiTable, RowField } from './api-types.ts'
import { isName, typeNameOf } from './names.ts'
import { rulesOf } from './types.ts'
import { compositeNamed, type ColumnType, type World } from './world.ts'

/** An interface in comments, for one role (spec/graphql.md 17.9). */
interface InterfaceType {
  readonly types: ReadonlySet<string>
  readonly fields: ReadonlyMap<string, RowField>
}

/** @param isTaken whether a name is that of another type */
export function interfacesOf(
  world: World,
  tables: readonly ApiTable[],
  isTaken: (name: string) => boolean,
): ReadonlyMap<string, InterfaceType> {
  const names = new Set(tables.flatMap(interfacesNamed))
  return new Map(
    [...names]
      .filter((name) => isName(name) && !isTaken(name))
      .map((name) => {
        const having = tables.filter((table) => interfacesNamed(table).includes(name))
        return [name, { types: new Set(having.map(({ type }) => type)), fields: sharedFields(world, having) }]
      }),
  )
}

const interfacesNamed = ({ sketch }: ApiTable): readonly string[] => [
  ...(sketch.interfaces ?? []),
  ...(sketch.collections ?? []),
]

/** The node id, and columns that all of the tables have with one type, nullable or not. */
function sharedFields(world: World, [first, ...others]: readonly ApiTable[]): ReadonlyMap<string, RowField> {
  const textOf = (field: RowField | undefined): string | null =>
    field?.kind === 'column' ? typeText(world, field.column.type) : field?.kind === 'nodeId' ? 'ID' : null
  return new Map(
    [...(first?.fields ?? [])].filter(([name, field]) => {
      const text = textOf(field)
      return text !== null && others.every(({ fields }) => textOf(fields.get(name)) === text)
    }),
  )
}

/** The type of a column's values, by its name in the API or by what the database calls it. */
function typeText(world: World, type: ColumnType): string {
  const { base, list } = type
  const leaf =
    base === 'enum'
      ? `enum ${type.enum}`
      : base === 'composite'
        ? typeNameOf(compositeNamed(world, type).name, null, false)
        : base === 'other'
          ? type.json === true
            ? 'JSON'
            : 'Opaque'
          : rulesOf(type).graphql
  return list ? `[${leaf}]` : leaf
}

/** The types that Node and unions cover. */
export function abstractTypes(tables: readonly ApiTable[]): Api['abstract'] {
  const typeOfTable = new Map(tables.map(({ sketch, type }) => [sketch.name, type]))
  return new Map([
    ['Node', new Set(typeOfTable.values())],
    ...tables.flatMap(({ fields }) =>
      [...fields.values()].flatMap((field): readonly (readonly [string, ReadonlySet<string>])[] =>
        field.kind === 'union'
          ? [[field.type, new Set(field.of.map(({ target }) => typeOfTable.get(target) ?? ''))]]
          : [],
      ),
    ),
  ])
}
