import { getNamedType, isObjectType, isScalarType, type GraphQLField, type GraphQLSchema } from 'graphql'

const about = '# Runs as the caller chosen above: row-level security decides which rows are visible.\n'

/** More would not fit on one screen beside the answer. */
const mostFields = 5

/** A first query: some rows of the first collection, with some of their columns. */
export function firstQuery(schema: GraphQLSchema): string {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {})
  const collection = fields.find(({ name }) => name.endsWith('Collection'))
  const columns = collection === undefined ? [] : columnsOf(collection)
  if (collection === undefined || columns.length === 0) return `${about}{\n  __typename\n}\n`
  return `${about}{\n  ${collection.name}(first: 5) {\n    edges {\n      node {\n${columns.map((name) => `        ${name}\n`).join('')}      }\n    }\n  }\n}\n`
}

type Field = GraphQLField<unknown, unknown>

const fieldOf = (field: Field | undefined, name: string): Field | undefined => {
  const type = field && getNamedType(field.type)
  return isObjectType(type) ? type.getFields()[name] : undefined
}

function columnsOf(collection: Field): readonly string[] {
  const node = fieldOf(fieldOf(collection, 'edges'), 'node')
  const row = node && getNamedType(node.type)
  if (!isObjectType(row)) return []
  return Object.values(row.getFields())
    .filter(({ name, args, type }) => name !== 'nodeId' && args.length === 0 && isScalarType(getNamedType(type)))
    .slice(0, mostFields)
    .map(({ name }) => name)
}
