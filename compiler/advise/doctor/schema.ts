import type { SchemaReport } from '../../../runtime/graphql/report/report.ts'
import type { Diagnostic, Manifest } from '../../../runtime/contract/manifest.ts'
import { summaryOf } from '../../../runtime/engine/summary.ts'
import { visibleTo } from '../../../runtime/engine/view.ts'
import { groupBy, atOnce } from '../../../runtime/lib/steps.ts'
import { fieldLosses } from '../../catalog/diagnostics/diagnostics.ts'
import { advise, fault, ok, type Finding } from './findings.ts'

const visibleFindings = (manifest: Manifest): readonly Finding[] => {
  const { relations, visible, missingGrants } = atOnce(summaryOf(manifest, (role) => visibleTo(manifest, role)))
  const list = visible.map(({ role, relations: count }) => `${count} to ${role}`).join(', ')
  return missingGrants === null
    ? [ok('grants', `of ${relations} tables and views are visible: ${list}`)]
    : [fault('grants', `no role sees any of ${relations} tables and views, so the API is empty`, missingGrants)]
}

/** Off is not a fault, but an editor's first query fails. */
const introspectionFinding = ({ schemas }: Manifest): Finding => {
  const open = schemas.filter(({ introspection }) => introspection).map(({ name }) => name)
  return ok(
    'introspection',
    open.length > 0
      ? `answered for ${open.join(', ')}`
      : 'off; editors can read what catalograph schema prints, and {"introspection": true} in the comment of a schema switches it on',
  )
}

/** Diagnostics of comments that make every request fail. */
const refusing: ReadonlySet<string> = new Set(['comment-json', 'comment-value'])

function remarkFindings(diagnostics: readonly Diagnostic[]): readonly Finding[] {
  const lost = diagnostics.filter(({ code }) => fieldLosses.has(code)).length
  const refused = diagnostics.filter(({ code }) => refusing.has(code)).length
  const comments = diagnostics.filter(({ code }) => code.startsWith('comment-')).length - refused
  const keyless = diagnostics.filter(({ code }) => code === 'no-key').length
  const crossing = diagnostics.filter(({ code }) => code === 'relation-crosses-shards').length
  const loosened = diagnostics.filter(({ code }) => code === 'policies-loosened')
  const broken = diagnostics.filter(({ severity }) => severity === 'error').length - loosened.length - refused
  return [
    ...loosened.map(({ object, message, fix }) => fault('policies', `${object}: ${message}`, fix)),
    ...(broken > 0 ? [fault('schema', `${broken} objects cannot be served`, 'catalograph report names them')] : []),
    ...(crossing > 0
      ? [
          advise(
            'citus',
            `${crossing} relations lead from one server to another, so that requests that follow them are refused`,
            'catalograph report names each, with what mends it',
          ),
        ]
      : []),
    ...(comments > 0
      ? [advise('comments', `${comments} comments or settings in them have no effect`, 'catalograph report names them')]
      : refused > 0
        ? []
        : [ok('comments', 'all comments can be read')]),
    ...(lost > 0
      ? [
          advise(
            'names',
            `${lost} names collide or are no GraphQL names, so that fields are missing`,
            'catalograph annotate writes comments that give each a name',
          ),
        ]
      : [ok('names', 'no names collide')]),
    ...(keyless > 0
      ? [
          advise(
            'keys',
            `${keyless} tables and views have no key, and so no collection`,
            'add primary keys; where columns tell rows apart, catalograph annotate writes comments',
          ),
        ]
      : []),
  ]
}

const adviceFindings = (advice: SchemaReport['advice']): readonly Finding[] =>
  [...groupBy(advice, ({ problem }) => problem)].map(([problem, group]) =>
    advise('database', `${problem}: ${group.length}`, 'catalograph report names each, with the SQL that mends it'),
  )

/** About the served schemas: visibility, diagnostics of the compiler, and the advice of the report. */
export const schemaFindings = (
  manifest: Manifest,
  diagnostics: readonly Diagnostic[],
  advice: SchemaReport['advice'],
): readonly Finding[] => [
  ...diagnostics
    .filter(({ code }) => refusing.has(code))
    .map(({ object, message, fix }) => fault('comments', `${object}: ${message}`, fix)),
  ...visibleFindings(manifest),
  introspectionFinding(manifest),
  ...remarkFindings(diagnostics),
  ...adviceFindings(advice),
]
