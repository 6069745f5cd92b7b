import { switchedOn } from '../../comments/additions.ts'
import type { AnnotatedType } from '../../comments/annotated.ts'
import { domainBase } from '../../model/scalars.ts'
import type { ModelScope } from '../../model/scope.ts'
import { keyAddition } from '../addition.ts'

const under = (scope: ModelScope, type: AnnotatedType): AnnotatedType | undefined =>
  type.kind === 'd' ? domainBase(scope, type) : undefined

/** Domains as the types underneath (spec/graphql.md 17). */
export const domains = keyAddition(
  'domains',
  {
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} serves columns and arguments of domains as the type underneath.',
  },
  { values: { under } },
)
