import { conditionOperators, type ConditionFacts, type FilterConstant } from '../../runtime/contract/stated.ts'
import { suggest } from '../../runtime/lib/text.ts'
import { type Decoded, type Decoder, isJsonList, type JsonMembers, type JsonValue, member } from './decoders.ts'
import { isJsonObject } from '../../runtime/lib/json.ts'

/**
 * Decoders of the additions' settings (spec/graphql.md 17), and of others with objects as values. A faulty setting is a
 * diagnostic for the owner and never a refusal: it counts as absent, and the rest of the API continues.
 */

/** An object with these members and no others, or null with the reason. */
interface Members {
  readonly given: JsonMembers | null
  readonly remarks: readonly string[]
}

export const jsonOf = (value: JsonValue): string => JSON.stringify(value)

/** The members of an addition's object; null and absence are valid. */
export function membersOf(value: JsonValue, names: readonly string[]): Members {
  if (value === null) return { given: null, remarks: [] }
  if (!isJsonObject(value)) return { given: null, remarks: [`${jsonOf(value)} is no object`] }
  const strange = Object.keys(value).filter((name) => !names.includes(name))
  return { given: value, remarks: strange.map((name) => strangeMember(name, names)) }
}

function strangeMember(name: string, names: readonly string[]): string {
  const nearest = suggest(name, names) ?? names[0] ?? ''
  return `it has no member ${jsonOf(name)}; did you mean ${jsonOf(nearest)}?`
}

/** `{"enabled": true}` or `{"enabled": false}`. Null if absent; a diagnostic if malformed. */
export const switched: Decoder<boolean | null> = (value) => {
  const { given, remarks } = membersOf(value, ['enabled'])
  const enabled = given === null ? null : member(given, 'enabled')
  const isSwitch = typeof enabled === 'boolean' || enabled === 'true' || enabled === 'false'
  const missing = given === null || isSwitch || remarks.length > 0 ? [] : ['"enabled" is neither true nor false']
  return { ok: true, value: isSwitch ? String(enabled) === 'true' : null, remarks: [...remarks, ...missing] }
}

/** The same with the default `fallback`. */
const switchedElse =
  (fallback: boolean): Decoder<boolean> =>
  (value) => {
    const read = switched(value)
    return read.ok ? { ...read, value: read.value ?? fallback } : read
  }

/** Off, unless `{"enabled": true}`. */
export const switchedOn = switchedElse(false)

/** On, unless `{"enabled": false}`. */
export const unlessDisabled = switchedElse(true)

export const tableSwitch = <const Name extends string>(key: Name, effect: string) => ({
  key,
  on: ['schema', 'relation'] as const,
  decode: switched,
  help: `{"enabled": true} ${effect}; a table goes before its schema.`,
})

interface Commented {
  readonly settings: object
}

const settingOf = ({ settings }: Commented, name: string): unknown =>
  (settings as Readonly<Record<string, unknown>>)[name]

export interface AskedAddition {
  readonly name: string
  /** The setting is true without a comment. */
  readonly usual?: true
}

export const askedBy = <Some extends AskedAddition>(
  commented: Commented,
  additions: readonly Some[],
): readonly Some[] =>
  additions.filter(({ name, usual }) => {
    const value = settingOf(commented, name)
    return usual ? value === false : Boolean(value) && !(Array.isArray(value) && value.length === 0)
  })

export const askedOf = <Some extends AskedAddition>(
  relation: Commented,
  schema: Commented,
  additions: readonly Some[],
): readonly Some[] => [
  ...askedBy(relation, additions),
  ...additions.filter(({ name, usual }) => !usual && settingOf(relation, name) == null && isOn(name, schema)),
]

/** Whether an addition is on for the first of these whose comment has its key; without the addition none has. */
export const isOn = (name: string, ...commented: readonly Commented[]): boolean =>
  commented.map((one) => settingOf(one, name)).find((value) => typeof value === 'boolean') === true

/** The members of an object, decoded separately, with their diagnostics. */
export function eachMember<T>(
  value: JsonValue,
  read: (name: string, value: JsonValue) => { readonly found: readonly T[]; readonly remarks: readonly string[] },
): Decoded<readonly T[]> {
  if (value === null) return { ok: true, value: [] }
  if (!isJsonObject(value)) return { ok: true, value: [], remarks: [`${jsonOf(value)} is no object`] }
  const all = Object.entries(value).map(([name, given]) => read(name, given))
  return { ok: true, value: all.flatMap(({ found }) => found), remarks: all.flatMap(({ remarks }) => remarks) }
}

/** `{"deleted_at": {"is": "NULL"}}`: operators by column; malformed entries are ignored. */
export const conditionsOnColumns: Decoder<readonly ConditionFacts[]> = (value) =>
  eachMember(value, (column, conditions) => {
    const read = conditionsOn(column, conditions)
    return {
      found: read.flatMap(({ facts }) => facts ?? []),
      remarks: read.flatMap(({ item, facts }) => (facts === null ? [`${jsonOf(item)} is no condition`] : [])),
    }
  })

function conditionsOn(
  column: string,
  conditions: JsonValue,
): readonly { readonly item: JsonValue; readonly facts: ConditionFacts | null }[] {
  if (!isJsonObject(conditions) || Object.keys(conditions).length === 0) {
    return [{ item: { [column]: conditions }, facts: null }]
  }
  return Object.entries(conditions).map(([operator, operand]) => ({
    item: { [column]: { [operator]: operand } },
    facts: condition(column, operator, operand),
  }))
}

function condition(column: string, asked: string, value: JsonValue): ConditionFacts | null {
  const operator = conditionOperators.find((name) => name === asked)
  if (operator === undefined) return null
  if (operator === 'in') return isJsonList(value) && value.every(isConstant) ? { column, operator, value } : null
  const isFit = operator === 'is' ? value === 'NULL' || value === 'NOT_NULL' : isConstant(value)
  return isFit && isConstant(value) ? { column, operator, value } : null
}

const isConstant = (value: JsonValue): value is FilterConstant => value !== null && typeof value !== 'object'

/** A relation in a comment. */
export interface NamedTable {
  readonly schema: string
  readonly name: string
}

/** `private.documents`, `"My Schema"."Documents"`; an unquoted name keeps its case. */
export function tableNamed(value: JsonValue): NamedTable | null {
  const parts = typeof value === 'string' ? qualifiedName.exec(value) : null
  const [, quotedSchema, schema, quotedName, name] = parts ?? []
  const read = (quoted: string | undefined, plain: string | undefined): string | undefined =>
    quoted?.replaceAll('""', '"') ?? plain
  const found = { schema: read(quotedSchema, schema), name: read(quotedName, name) }
  return found.schema === undefined || found.name === undefined ? null : { schema: found.schema, name: found.name }
}

const part = '(?:"((?:[^"]|"")+)"|([^".]+))'
const qualifiedName = new RegExp(`^${part}\\.${part}$`)
