import type { EntityFacts, Grantee, PresetFacts } from '../../contract/manifest.ts'

/** What a relation's comment says of its columns for one role (spec/graphql.md 17.5). */
export interface Access {
  /** SQL names of the columns that inputs lack. */
  readonly withheld: ReadonlySet<string>
  /** Of those that answers lack. */
  readonly writeOnly: ReadonlySet<string>
  readonly presets: readonly PresetFacts[]
}

const unrestricted: Access = { withheld: new Set(), writeOnly: new Set(), presets: [] }

/** @param names the role, then those whose privileges it has, then `public`; the first that presets a column does */
export function accessOf(names: readonly Grantee[], { access = [] }: EntityFacts): Access {
  const held = names.flatMap((name) => access.find(({ role }) => role === name) ?? [])
  if (held.length === 0) return unrestricted
  const presets = new Map(held.toReversed().flatMap((one) => one.presets.map((preset) => [preset.column, preset])))
  return {
    withheld: new Set(held.flatMap(({ withheld }) => withheld)),
    writeOnly: new Set(held.flatMap(({ writeOnly }) => writeOnly)),
    presets: [...presets.values()],
  }
}
