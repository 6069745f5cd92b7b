import { GraphQLObjectType, type GraphQLField, type GraphQLFieldMap, type GraphQLInterfaceType } from 'graphql'
import type { SchemaField } from './types.ts'

/** Makers of single fields; a field is made on first use. */
export interface FieldMakers {
  readonly find: (name: string) => (() => SchemaField) | undefined
  /** The names of all fields, in display order. */
  readonly names: () => readonly string[]
}

/**
 * An object type whose fields are made one by one. graphql-js makes all fields of a type together, which for the roots
 * of a schema with thousands of relations, and for a table that hundreds refer to, takes longer than answering.
 */
export class LazyObjectType extends GraphQLObjectType {
  readonly #fields: () => Fields

  constructor(
    name: string,
    description: string,
    makers: () => FieldMakers,
    interfaces: () => readonly GraphQLInterfaceType[] = () => [],
  ) {
    super({ name, description, interfaces, fields: {} })
    this.#fields = lazyFields(name, makers)
  }

  override getFields(): Fields {
    return this.#fields()
  }
}

type Fields = GraphQLFieldMap<unknown, unknown>
type Made = GraphQLField<unknown, unknown>

/**
 * Behaves like a plain object without prototype that holds every field, and becomes one, with the same fields, on
 * enumeration.
 */
function lazyFields(type: string, makers: () => FieldMakers): () => Fields {
  let known: FieldMakers | undefined
  const all = (): FieldMakers => (known ??= makers())
  const made = new Map<string | symbol, Made>()
  let whole: Fields | undefined
  const make = (missing: Readonly<Record<string, SchemaField>>): void => {
    for (const field of Object.values(new GraphQLObjectType({ name: type, fields: missing }).getFields()))
      made.set(field.name, field)
  }
  const find = (name: string | symbol): Made | undefined => {
    const before = made.get(name)
    if (before !== undefined || typeof name === 'symbol') return before
    const maker = all().find(name)
    if (maker === undefined) return undefined
    make({ [name]: maker() })
    return made.get(name)
  }
  const makeWhole = (): Fields => {
    const { names, find: makerOf } = all()
    const missing = names().flatMap((name) => {
      const maker = made.has(name) ? undefined : makerOf(name)
      return maker === undefined ? [] : [[name, maker()] as const]
    })
    make(Object.fromEntries(missing))
    const fields = Object.create(null) as Fields
    for (const name of names()) {
      const field = made.get(name)
      if (field !== undefined) fields[name] = field
    }
    return fields
  }
  const lazy = new Proxy(Object.create(null) as Fields, {
    get: (_, name) => find(name),
    has: (_, name) => typeof name === 'string' && all().find(name) !== undefined,
    ownKeys: () => Object.keys((whole ??= makeWhole())),
    getOwnPropertyDescriptor: (_, name) => {
      const value = find(name)
      return value && { value, enumerable: true, configurable: true, writable: false }
    },
  })
  return () => whole ?? lazy
}
