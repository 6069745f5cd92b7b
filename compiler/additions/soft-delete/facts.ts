import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { Marker } from '../../../runtime/contract/stated.ts'
import { nameRelation } from '../../catalog/catalog.ts'
import { diagnose, withDiagnostics, type WithDiagnostics } from '../../catalog/diagnostics/diagnostics.ts'
import type { NamedRelation } from '../../model/named-relations.ts'
import type { AnnotatedRelation } from '../../comments/annotated.ts'
import { baseType, type ValueScope } from '../../model/scalars.ts'
import type { SettingChange } from '../addition.ts'

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityFacts {
    /** The marker of deleted rows; null: it is invalid, so rows cannot be deleted; absent: rows are removed. */
    readonly softDelete?: Marker | null
  }
  interface Manifest {
    /** Some relation has `softDelete`, which adds the type of the argument for deleted rows. */
    readonly softDelete?: true
  }
}

export const typeNames = ['DeletedRows']

/** The column that marks rows as deleted (spec/graphql.md 17.5); an unusable one is a fault that forbids deleting. */
export function relationFacts(
  { relation }: NamedRelation,
  _columns: unknown,
  scope: ValueScope,
): WithDiagnostics<Pick<EntityFacts, 'softDelete'>> {
  const { softDelete: column } = relation.settings
  const facts = column === null ? null : marked(relation, scope, column)
  return withDiagnostics(
    { softDelete: facts },
    facts === null ? [diagnose('soft-delete-unusable', nameRelation(relation), { column: column ?? '' })] : [],
  )
}

function marked({ columns }: AnnotatedRelation, scope: ValueScope, name: string): Marker | null {
  const column = columns.find((one) => one.name === name)
  if (column === undefined || column.generated) return null
  const mark = kinds[baseType(scope, column.type)?.name ?? '']
  return mark === undefined || (mark === 'time' && column.notNull) ? null : { column: name, mark }
}

const kinds: Readonly<Record<string, Marker['mark']>> = { timestamptz: 'time', timestamp: 'time', bool: 'flag' }

export function neededColumns({ settings }: AnnotatedRelation): readonly string[] {
  return settings.softDelete === null ? [] : [settings.softDelete]
}

export function changes(old: EntityFacts, now: EntityFacts): SettingChange | null {
  const mark = now.softDelete?.column
  if (old.softDelete?.column === mark) return null
  return {
    kind: 'SOFT_DELETE_CHANGED',
    description:
      mark === undefined
        ? `No row of ${now.name} counts as deleted now: collections hold other rows, and deletes remove them for good.`
        : `Rows of ${now.name} count as deleted by "${mark}" now: collections hold other rows.`,
  }
}
