import type { EntityFacts, Grantee, PresetFacts } from '../../contract/manifest.ts'

/** Column settings in a relation's comment for one role (spec/graphql.md 17.5). */
export interface Access {
  /** SQL names of the columns that are absent from inputs. */
  readonly withheld: ReadonlySet<string>
  /** SQL names of the columns that are absent from answers. */
  readonly writeOnly: ReadonlySet<string>
  readonly presets: readonly PresetFacts[]
}

const unrestricted: Access = { withheld: new Set(), writeOnly: new Set(), presets: [] }

/** @param names the role, then those whose privileges it has, then `public`; the first preset of a column is used */
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
