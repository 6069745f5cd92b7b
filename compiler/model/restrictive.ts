import type { Diagnostic } from '../../runtime/contract/manifest.ts'
import { ident, qualified } from '../../runtime/sql/ident.ts'
import type { CatalogPolicy } from '../catalog/catalog.ts'
import type { Annotated, AnnotatedRelation } from '../comments/annotated.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { nameRelation } from '../catalog/diagnostics/object-name.ts'
import { withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/with-diagnostics.ts'

/**
 * Relations without those whose restrictive policies do not apply: Citus makes them permissive on the servers of the
 * rows, so that more rows would be visible and writable.
 */
export function withoutLoosened({
  relations,
  distributed = [],
}: Annotated): WithDiagnostics<readonly AnnotatedRelation[]> {
  const loosened = new Map(
    distributed
      .filter(({ policies }) => policies.some(({ permissive }) => !permissive))
      .map(({ oid, policies }) => [oid, policies]),
  )
  const isLoosened = ({ oid, rowSecurity }: AnnotatedRelation): boolean => rowSecurity && loosened.has(oid)
  if (loosened.size === 0) return withDiagnostics(relations)
  return withDiagnostics(
    relations.filter((relation) => !isLoosened(relation)),
    relations.filter(isLoosened).map((relation) => loosenedDiagnostic(relation, loosened.get(relation.oid) ?? [])),
  )
}

const loosenedDiagnostic = (relation: AnnotatedRelation, policies: readonly CatalogPolicy[]): Diagnostic =>
  diagnose('policies-loosened', nameRelation(relation), {
    policies: policies.filter(({ permissive }) => !permissive).map(({ name }) => name),
    sql: foldedSql(relation, policies),
  })

/** SQL by which permissive policies include the restrictive ones; null: their roles differ, so it is impossible. */
export function foldedSql(
  { schema, name }: Pick<AnnotatedRelation, 'schema' | 'name'>,
  policies: readonly CatalogPolicy[],
): string | null {
  const on = (policy: CatalogPolicy): string => `policy ${ident(policy.name)} on ${qualified(schema, name)}`
  const permissive = policies.filter((policy) => policy.permissive)
  const restrictive = policies.filter((policy) => !policy.permissive)
  const isFoldable = (policy: CatalogPolicy): boolean =>
    policy.everybody && (policy.command === '*' || permissive.every(({ command }) => command !== '*'))
  if (!restrictive.every(isFoldable)) return null
  const altered = permissive.flatMap((policy) => {
    const held = restrictive.filter(({ command }) => command === '*' || command === policy.command)
    return held.length === 0 ? [] : [`alter ${on(policy)}${demanded([policy, ...held], policy.command)};`]
  })
  return [...altered, ...restrictive.map((policy) => `drop ${on(policy)};`)].join(' ')
}

/** The combined conditions. Without its own check a policy checks new rows by its USING. */
function demanded(policies: readonly CatalogPolicy[], command: CatalogPolicy['command']): string {
  const checks =
    command === 'a' || ((command === 'w' || command === '*') && policies.some(({ check }) => check !== null))
  return [
    command === 'a'
      ? ''
      : clause(
          'using',
          policies.map(({ using }) => using),
        ),
    checks
      ? clause(
          'with check',
          policies.map(({ using, check }) => check ?? using),
        )
      : '',
  ].join('')
}

function clause(words: string, conditions: readonly (string | null)[]): string {
  const given = conditions.filter((condition) => condition !== null)
  return given.length === 0 ? '' : ` ${words} (${given.join(' and ')})`
}
