import { compareBytes } from '../../runtime/lib/text.ts'
import type { AccessFacts, EntityFacts } from '../../runtime/contract/manifest.ts'
import { enclosed } from '../comments/expressions.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'

/** Settings in a relation's comment for single columns and roles (spec/graphql.md 17.5). */

/** SQL of the expressions that columns are set to, each by its place. */
export const presetSql = ({ access = [] }: AnnotatedRelation): readonly string[] =>
  [...new Set(access.flatMap(({ set }) => [set?.insert ?? [], set?.update ?? []].flat()))].map(enclosed)

/** Columns that are set, whose privileges decide whether they are. */
export const presetColumns = ({ access = [] }: AnnotatedRelation): readonly string[] =>
  access.flatMap(({ column, set }) => (set ? [column] : []))

export function accessFacts(relation: AnnotatedRelation): Pick<EntityFacts, 'access'> {
  const { access = [] } = relation
  const roles = [...new Set(access.map(({ role }) => role))].sort(compareBytes)
  if (roles.length === 0) return {}
  const sql = presetSql(relation)
  const place = (text: string | null): number | null => (text === null ? null : sql.indexOf(enclosed(text)))
  return {
    access: roles.map((role): AccessFacts => {
      const own = access.filter((one) => one.role === role)
      const columnsOf = (wanted: (one: (typeof own)[number]) => boolean): readonly string[] =>
        own.filter(wanted).map(({ column }) => column)
      return {
        role,
        withheld: [
          ...columnsOf(({ absentFrom, set }) => absentFrom === 'inputs' && !set),
          ...columnsOf(({ set }) => set !== undefined),
        ],
        writeOnly: columnsOf(({ absentFrom }) => absentFrom === 'answers'),
        presets: own.flatMap(({ column, set }) =>
          set && mayBeSet(relation, column) ? [{ column, insert: place(set.insert), update: place(set.update) }] : [],
        ),
      }
    }),
  }
}

const mayBeSet = ({ columns }: AnnotatedRelation, name: string): boolean =>
  columns.some((column) => column.name === name && !column.generated && !column.identity)
