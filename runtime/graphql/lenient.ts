import {
  ExecutableDefinitionsRule,
  FieldsOnCorrectTypeRule,
  FragmentsOnCompositeTypesRule,
  KnownArgumentNamesRule,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  LoneAnonymousOperationRule,
  NoFragmentCyclesRule,
  ProvidedRequiredArgumentsRule,
  UniqueOperationNamesRule,
  type ValidationRule,
} from 'graphql'
import { knownTypeNames } from './known-type-names.ts'

/**
 * What still holds when a schema comment switches validation off (spec/graphql.md section 0, decision 9): without these a document has
 * no meaning. Left out are the rules about unused, undeclared and loosely typed things.
 */
export const lenientRules: readonly ValidationRule[] = [
  ExecutableDefinitionsRule,
  UniqueOperationNamesRule,
  LoneAnonymousOperationRule,
  knownTypeNames,
  FragmentsOnCompositeTypesRule,
  FieldsOnCorrectTypeRule,
  KnownFragmentNamesRule,
  NoFragmentCyclesRule,
  KnownDirectivesRule,
  KnownArgumentNamesRule,
  ProvidedRequiredArgumentsRule,
]
