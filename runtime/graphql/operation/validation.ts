import {
  ExecutableDefinitionsRule,
  FieldsOnCorrectTypeRule,
  FragmentsOnCompositeTypesRule,
  KnownArgumentNamesRule,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  KnownTypeNamesRule,
  LoneAnonymousOperationRule,
  MaxIntrospectionDepthRule,
  NoFragmentCyclesRule,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  ProvidedRequiredArgumentsRule,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  UniqueOperationNamesRule,
  validate,
  type DocumentNode,
  type GraphQLError,
  type ValidationRule,
} from 'graphql'
import type { RoleView } from '../../engine/schema/schema.ts'
import { knownTypeNames } from './known-type-names.ts'
import { TakesLong, type Patience } from './limits.ts'
import { asOneRule } from './rules-as-one.ts'
import { singleFieldSubscriptions } from './single-field-subscriptions.ts'

/** Replacements of rules of graphql-js. */
const ours: ReadonlyMap<ValidationRule, ValidationRule> = new Map([
  [KnownTypeNamesRule, knownTypeNames],
  [SingleFieldSubscriptionsRule, singleFieldSubscriptions],
])

/** All rules of the specification (spec/graphql.md 11, left-hand column). */
const strictRules: readonly ValidationRule[] = specifiedRules.map((rule) => ours.get(rule) ?? rule)

/**
 * The rules that remain when a schema comment switches validation off (spec/graphql.md, decision 9): without these a
 * document has no meaning. The rules about unused, undeclared and loosely typed names are left out.
 */
const lenientRules: readonly ValidationRule[] = [
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
  OverlappingFieldsCanBeMergedRule,
  MaxIntrospectionDepthRule,
  singleFieldSubscriptions,
]

/** A suggestion compares a name with every name of a type; more problems than this are not typing errors. */
const maxSuggested = 20

/** The product of problems and relations whose names are compared within some milliseconds. */
const quickSuggestions = 300

/**
 * The problems of a document, in the words of graphql-js, up to its limit of a hundred. Suggestions are made only for
 * documents with few problems, because hundreds of wrong names would cost seconds on a large schema.
 * @throws TakesLong in quick mode
 */
export function problemsOf(view: RoleView, document: DocumentNode, pace: Patience): readonly GraphQLError[] {
  const base = view.visible.manifest.validation ? strictRules : lenientRules
  const rules = [asOneRule(view.introspection ? base : [...base, NoSchemaIntrospectionCustomRule])]
  const problems = validate(view.schema, document, rules, { hideSuggestions: true })
  const suggests = problems.length > 0 && problems.length <= maxSuggested
  const names = problems.length * view.visible.manifest.entities.length
  if (suggests && pace === 'quick' && names > quickSuggestions) throw new TakesLong()
  return suggests ? validate(view.schema, document, rules) : problems
}

/**
 * Whether validation was given up: comparing all fields that may be merged costs the square of a document, so
 * graphql-js does a bounded part of it.
 */
export const isAborted = ({ message }: GraphQLError): boolean => message === 'Validation aborted.'
