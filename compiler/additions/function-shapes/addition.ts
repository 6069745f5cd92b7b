import { formOf } from '../../../runtime/contract/facts.ts'
import type { ResultFacts } from '../../../runtime/contract/manifest.ts'
import { hasFilter } from '../../../runtime/sql/scalars.ts'
import { switchedOn } from '../../comments/additions.ts'
import type { AnnotatedFunction } from '../../comments/annotated.ts'
import type { ModelScope } from '../../model/scope.ts'
import { keyAddition } from '../addition.ts'
import './facts.ts'

/** Scalars and enums without arguments can be filtered. */
function filters(scope: ModelScope, fn: AnnotatedFunction, facts: ResultFacts): boolean {
  if (fn.args.length > 1 || facts.kind !== 'value' || fn.returnsSet) return false
  // Postgres has no operators for domains over enums.
  if (facts.type.kind === 'enum') return !facts.type.list && scope.types.get(fn.result)?.kind === 'e'
  if (facts.type.kind !== 'scalar' || facts.type.list) return false
  return facts.type.name === 'GeoJSON' || formOf(facts.type) !== undefined || hasFilter(facts.type.name)
}

/** Functions of further shapes, and filters on computed fields (spec/graphql.md 17). */
export const functionShapes = keyAddition(
  'functionShapes',
  {
    on: ['schema'],
    decode: switchedOn,
    help:
      '{"enabled": true} serves overloads that have a name by comment, arguments without names, enums, computed fields ' +
      'with arguments, and filters on computed fields.',
  },
  { manifestFacts: () => ({ functionShapes: true }), values: { shapes: true, filters } },
)
