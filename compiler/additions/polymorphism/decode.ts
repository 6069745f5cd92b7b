import { isJsonObject } from '../../../runtime/lib/json.ts'
import { membersOf } from '../../comments/additions.ts'
import { type Decoder, isJsonList, member, type JsonValue } from '../../comments/decoders.ts'

/** A table comment's settings of abstract types (spec/graphql.md 17.9). */
export interface PolymorphismSetting {
  readonly unions: readonly UnionSetting[]
  /** Names of interfaces of its type. */
  readonly interfaces: readonly string[]
  /** Those of them whose collections have its rows. */
  readonly collections: readonly string[]
}

export interface UnionSetting {
  readonly field: string
  /** Relations of the table, by their fields. */
  readonly of: readonly string[]
}

/**
 * `{"unions": {"target": ["post", "comment"]}, "interfaces": ["Content"], "collections": ["Content"]}`; a malformed
 * union is left out.
 */
export const abstractTypes: Decoder<PolymorphismSetting | null> = (value) => {
  if (value === null) return { ok: true, value: null }
  const { given, remarks } = membersOf(value, ['unions', 'interfaces', 'collections'])
  const unions = unionsIn(given === null ? null : member(given, 'unions'))
  const namesOf = (name: string): Names => namesIn(name, given === null ? null : member(given, name))
  const [interfaces, collections] = [namesOf('interfaces'), namesOf('collections')]
  return {
    ok: true,
    value: {
      unions: unions.read,
      interfaces: [...new Set([...interfaces.read, ...collections.read])],
      collections: [...new Set(collections.read)],
    },
    remarks: [...remarks, ...unions.remarks, ...interfaces.remarks, ...collections.remarks],
  }
}

interface Names {
  readonly read: readonly string[]
  readonly remarks: readonly string[]
}

function namesIn(name: string, value: JsonValue): Names {
  if (value === null) return { read: [], remarks: [] }
  return isNames(value)
    ? { read: value, remarks: [] }
    : { read: [], remarks: [`"${name}" is ${JSON.stringify(value)}, which is no list of names`] }
}

function unionsIn(unions: JsonValue): { readonly read: readonly UnionSetting[]; readonly remarks: readonly string[] } {
  if (unions === null) return { read: [], remarks: [] }
  if (!isJsonObject(unions)) return { read: [], remarks: [`"unions" is ${JSON.stringify(unions)}, which is no object`] }
  const read = Object.entries(unions).map(([field, of]) => ({ field, of: isNames(of) ? of : null }))
  return {
    read: read.flatMap(({ field, of }) => (of === null ? [] : [{ field, of }])),
    remarks: read.flatMap(({ field, of }) => (of === null ? [`${JSON.stringify(field)} is no list of relations`] : [])),
  }
}

const isNames = (value: JsonValue): value is readonly string[] =>
  isJsonList(value) && value.length > 0 && value.every((name) => typeof name === 'string')
