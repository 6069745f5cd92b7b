import { compareBytes } from '../../runtime/lib/text.ts'
import type { AccessFacts, EntityFacts, PresetFacts } from '../../runtime/contract/manifest.ts'
import { enclosed } from '../comments/expressions.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'

/** Settings in a relation's comment for single columns and roles (spec/graphql.md 17.5). */

/** SQL of the presets, each by its place. */
export function presetSql({ settings }: AnnotatedRelation): readonly string[] {
  return [...new Set(settings.preset.flatMap(({ insert, update }) => [insert ?? [], update ?? []].flat()))].map(
    enclosed,
  )
}

/** Columns with presets, whose privileges decide whether they apply. */
export const presetColumns = ({ settings }: AnnotatedRelation): readonly string[] =>
  settings.preset.map(({ column }) => column)

export function accessFacts(relation: AnnotatedRelation): Pick<EntityFacts, 'access'> {
  const { readOnly, writeOnly, preset } = relation.settings
  const roles = [...new Set([...readOnly, ...writeOnly, ...preset].map(({ role }) => role))].sort(compareBytes)
  if (roles.length === 0) return {}
  const sql = presetSql(relation)
  const place = (text: string | null): number | null => (text === null ? null : sql.indexOf(enclosed(text)))
  const columnsOf = (lists: typeof readOnly, role: string): readonly string[] =>
    lists.flatMap((one) => (one.role === role ? one.columns : []))
  return {
    access: roles.map((role): AccessFacts => {
      const own = preset.filter((one) => one.role === role)
      return {
        role,
        withheld: [...columnsOf(readOnly, role), ...own.map(({ column }) => column)],
        writeOnly: columnsOf(writeOnly, role),
        presets: own
          .filter(({ column }) => mayBeSet(relation, column))
          .map(({ column, insert, update }): PresetFacts => ({ column, insert: place(insert), update: place(update) })),
      }
    }),
  }
}

const mayBeSet = ({ columns }: AnnotatedRelation, name: string): boolean =>
  columns.some((column) => column.name === name && !column.generated && !column.identity)
