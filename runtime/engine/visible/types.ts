import type {
  AttributeFacts,
  CompositeFacts,
  EnumFacts,
  Manifest,
  ObjectId,
  TypeFacts,
  ValueType,
} from '../../contract/manifest.ts'
import type { Names } from '../../contract/type-names.ts'
import type { Rights } from './rights.ts'

/** The types of values that a role may see (spec/graphql.md 1.4). */
export interface VisibleTypes {
  readonly enum: (id: ObjectId) => EnumFacts | undefined
  /** A composite type whose attributes the role may see. */
  readonly composite: (id: ObjectId) => CompositeFacts | undefined
  /** Its attributes with usable types; those with a field in the filter type. */
  readonly attributes: (item: CompositeFacts) => readonly AttributeFacts[]
  readonly comparableAttributes: (item: CompositeFacts) => readonly AttributeFacts[]
  /** Whether the type of a value may be used and shown. */
  readonly seesType: (facts: TypeFacts) => boolean
  /** Whether the enum and its filter may be named by this role. */
  readonly seesEnum: (item: EnumFacts) => boolean
  /** Whether values of the type can be compared by this role. */
  readonly compares: (type: ValueType | null) => boolean
}

/** Whether statements of the role may name the type: USAGE on its schema, and on that of its base type. */
export const namesType = ({ closed }: Rights, { typeSchema, underSchema }: Omit<TypeFacts, 'type'>): boolean =>
  !(typeSchema !== null && closed.has(typeSchema)) && !(underSchema !== undefined && closed.has(underSchema))

export function typesVisibleTo(manifest: Manifest, rights: Rights, names: Names): VisibleTypes {
  const { can, usable } = rights
  const enums = new Map(manifest.enums.map((item) => [item.id, item]))
  const composites = new Map((manifest.composites ?? []).map((item) => [item.id, item]))

  const composite = (id: ObjectId): CompositeFacts | undefined => {
    const item = composites.get(id)
    return item !== undefined && usable.has(item.schema) && names.ownsComposite(item) && attributes(item).length > 0
      ? item
      : undefined
  }
  const attributes = (item: CompositeFacts): readonly AttributeFacts[] => item.fields.filter(seesType)
  const comparableAttributes = (item: CompositeFacts): readonly AttributeFacts[] =>
    attributes(item).filter(({ filter, type }) => filter && compares(type))
  const seesType = (facts: TypeFacts): boolean => {
    const { type } = facts
    if (!namesType(rights, facts)) return false
    if (type.kind === 'composite') return composite(type.id) !== undefined
    if (type.kind === 'scalar' || !type.list) return true
    const item = enums.get(type.id)
    return item === undefined || can(item.usage)
  }
  /** Enums are compared as such only with USAGE; lists of Opaque have no filter. */
  const compares = (type: ValueType | null): boolean => {
    if (type?.kind === 'composite') {
      const item = composite(type.id)
      return item !== undefined && comparableAttributes(item).length > 0
    }
    const item = type?.kind === 'enum' ? enums.get(type.id) : undefined
    if (item === undefined) return true
    return names.ownsEnum(item) ? can(item.usage) : type?.list === false
  }
  return {
    enum: (id) => enums.get(id),
    composite,
    attributes,
    comparableAttributes,
    seesType,
    seesEnum: (item) => names.ownsEnum(item) && usable.has(item.schema) && can(item.usage),
    compares,
  }
}
