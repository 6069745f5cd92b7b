import { isJsonObject } from '../../runtime/lib/json-object.ts'
import { membersOf } from './additions.ts'
import type { Decoder } from './decoders.ts'
import { isJsonList, member, type JsonValue } from './json-value.ts'

/** What a table's comment says of types that stand for several tables (spec/graphql.md 17.9). */
export interface PolymorphismSetting {
  readonly unions: readonly UnionSetting[]
}

export interface UnionSetting {
  readonly field: string
  /** Relations of the table, by their fields. */
  readonly of: readonly string[]
}

/** `{"unions": {"target": ["post", "comment"]}}`; a union that cannot be read is left out. */
export const polymorphism: Decoder<PolymorphismSetting> = (value) => {
  const { given, remarks } = membersOf(value, ['unions'])
  const told = given === null ? null : member(given, 'unions')
  if (told === null || !isJsonObject(told)) {
    const faults = told === null ? [] : [`"unions" is ${JSON.stringify(told)}, which is no object`]
    return { ok: true, value: { unions: [] }, remarks: [...remarks, ...faults] }
  }
  const read = Object.entries(told).map(([field, of]) => ({ field, of: isNames(of) ? of : null }))
  return {
    ok: true,
    value: { unions: read.flatMap(({ field, of }) => (of === null ? [] : [{ field, of }])) },
    remarks: [
      ...remarks,
      ...read.flatMap(({ field, of }) => (of === null ? [`${JSON.stringify(field)} is no list of relations`] : [])),
    ],
  }
}

const isNames = (value: JsonValue): value is readonly string[] =>
  isJsonList(value) && value.length > 0 && value.every((name) => typeof name === 'string')
