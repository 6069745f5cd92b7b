import type { Claims } from './policies.ts'
import type { AccessSketch, PresetSketch, Role, TableSketch, Value } from './world.ts'

/** The settings of a table's comment for columns of one role (spec/graphql.md 17.5). */
export interface Access {
  /** Columns that are not in inputs. */
  readonly withheld: readonly string[]
  /** Columns that are in inputs only. */
  readonly hidden: readonly string[]
  readonly presets: AccessSketch['presets']
}

/** A role's own setting takes precedence over that of `public`. */
export function accessOf({ access = [] }: TableSketch, role: Role): Access {
  const own = access.filter((one) => one.role === role)
  const held = [...own, ...access.filter((one) => one.role === 'public')]
  const presets = held.flatMap((one) => one.presets)
  return {
    withheld: [...held.flatMap(({ readOnly }) => readOnly), ...presets.map(({ column }) => column)],
    hidden: held.flatMap(({ writeOnly }) => writeOnly),
    presets: presets.filter(({ column }, index) => presets.findIndex((other) => other.column === column) === index),
  }
}

/** The value of a preset for a caller. */
export const presetValue = (preset: PresetSketch, claims: Claims): Value => {
  if (preset.kind === 'value') return preset.value
  const { sub } = claims
  return sub === undefined ? null : typeof sub === 'string' ? sub : JSON.stringify(sub)
}
