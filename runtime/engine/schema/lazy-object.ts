import { GraphQLObjectType, type GraphQLField, type GraphQLFieldMap, type GraphQLInterfaceType } from 'graphql'
import type { SchemaField } from './types.ts'

/** How to make each field; a field is made when it is first asked for. */
export interface FieldMakers {
  readonly find: (name: string) => (() => SchemaField) | undefined
  /** The names of all fields, in the order in which they are shown. */
  readonly names: () => readonly string[]
}

/**
 * An object type whose fields are made one by one. graphql-js makes all fields of a type at once, which for the roots
 * of a schema with thousands of relations, and for a table that hundreds refer to, takes longer than answering.
 */
export class LazyObjectType extends GraphQLObjectType {
  readonly #fields: GraphQLFieldMap<unknown, unknown>

  constructor(
    name: string,
    description: string,
    makers: () => FieldMakers,
    interfaces: () => readonly GraphQLInterfaceType[] = () => [],
  ) {
    super({ name, description, interfaces, fields: {} })
    this.#fields = lazyFields(name, makers)
  }

  override getFields(): GraphQLFieldMap<unknown, unknown> {
    return this.#fields
  }
}

type Made = GraphQLField<unknown, unknown>

/** Looks like a plain object without prototype that holds every field. */
function lazyFields(type: string, makers: () => FieldMakers): GraphQLFieldMap<unknown, unknown> {
  let known: FieldMakers | undefined
  const all = (): FieldMakers => (known ??= makers())
  const made = new Map<string | symbol, Made>()
  const find = (name: string | symbol): Made | undefined => {
    const before = made.get(name)
    if (before !== undefined || typeof name === 'symbol') return before
    const make = all().find(name)
    if (make === undefined) return undefined
    const field = new GraphQLObjectType({ name: type, fields: { [name]: make() } }).getFields()[name]
    if (field !== undefined) made.set(name, field)
    return field
  }
  return new Proxy(Object.create(null) as GraphQLFieldMap<unknown, unknown>, {
    get: (_, name) => find(name),
    has: (_, name) => typeof name === 'string' && all().find(name) !== undefined,
    ownKeys: () => [...all().names()],
    getOwnPropertyDescriptor: (_, name) => {
      const value = find(name)
      return value && { value, enumerable: true, configurable: true, writable: false }
    },
  })
}
