import type { CatalogUniqueKey } from '../../catalog/catalog.ts'
import { nameConstraint } from '../../catalog/catalog.ts'
import { diagnose, withDiagnostics } from '../../catalog/diagnostics/diagnostics.ts'
import type { AnnotatedRelation } from '../../comments/annotated.ts'
import { isValidEnumValue } from '../../model/names.ts'
import { tableAddition } from '../addition.ts'
import { parts, type UniqueKeyFacts } from './facts.ts'

/** A key with an invalid GraphQL name cannot be selected, and is reported. */
const usableKeys = ({ uniqueKeys }: AnnotatedRelation): readonly CatalogUniqueKey[] =>
  uniqueKeys.filter(({ name }) => isValidEnumValue(name))

function keyFacts({ columns: all }: AnnotatedRelation, { name, parts, predicate }: CatalogUniqueKey): UniqueKeyFacts {
  const columns = parts.flatMap((part) => ('column' in part ? [part.column] : []))
  const generated = columns.filter((column) => all.some((one) => one.name === column && one.generated))
  const whole = predicate !== null || parts.some((part) => 'expression' in part)
  return { name, columns, ...(generated.length > 0 && { generated }), whole }
}

/** The treatment of existing rows on insert (spec/graphql.md 17). */
export const upsert = tableAddition('upsert', 'gives its insert the argument onConflict', {
  parts,
  writes: true,
  relationFacts: ({ relation }) => {
    const usable = usableKeys(relation)
    return withDiagnostics(
      { uniqueKeys: usable.map((key) => keyFacts(relation, key)) },
      relation.uniqueKeys
        .filter((key) => !usable.includes(key))
        .map(({ name }) => diagnose('unique-key-unusable', nameConstraint(relation, name), { name })),
    )
  },
  neededColumns: (relation) => usableKeys(relation).flatMap((key) => keyFacts(relation, key).columns),
  relationSql: (relation) => ({ arbiters: usableKeys(relation) }),
})
