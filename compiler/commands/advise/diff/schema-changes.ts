import {
  BreakingChangeType,
  DangerousChangeType,
  findBreakingChanges,
  findDangerousChanges,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import { parts } from '../../../../runtime/contract/name-parts.ts'
import type { ApiChange } from './change.ts'

/**
 * The differences of a role's schema, by findBreakingChanges and findDangerousChanges of graphql-js, and the additions.
 */
export function schemaChanges(before: GraphQLSchema, after: GraphQLSchema): readonly ApiChange[] {
  const breaking = findBreakingChanges(before, after).filter(({ type }) => !harmless.has(type))
  const dangerous = findDangerousChanges(before, after).filter(({ type }) => !harmless.has(type))
  return withoutCompanions([
    ...breaking.map(({ type, description }): ApiChange => ({ severity: 'breaking', kind: type, description })),
    ...dangerous.map(({ type, description }): ApiChange => ({ severity: 'dangerous', kind: type, description })),
    ...narrowed(before, after),
    ...additions(before, after),
  ])
}

/** `PostFilter.body was removed.` is implied by `Post.body was removed.`, and arguments of a field by a new field. */
function withoutCompanions(changes: readonly ApiChange[]): readonly ApiChange[] {
  const descriptions = new Set(changes.map(({ description }) => description))
  return changes.filter(({ description }) => !companies(description).some((other) => descriptions.has(other)))
}

const endings = Object.values(parts).filter((ending) => ending !== '')

/** The same sentence about the field of an argument, and about the types from which this one's name may derive. */
function companies(description: string): readonly string[] {
  const type = /^\w+/.exec(description)?.[0] ?? ''
  const field = description.replace(/\(\w+:\)/, '')
  return [
    ...(field === description ? [] : [field]),
    ...endings
      .filter((ending) => type.endsWith(ending))
      .map((ending) => type.slice(0, -ending.length) + description.slice(type.length)),
  ]
}

/**
 * Each new column adds inputs, without an effect on valid documents: they are reported as additions. Directives that
 * appear or disappear are those of schemas, which no document uses.
 */
const harmless: ReadonlySet<string> = new Set([
  BreakingChangeType.DIRECTIVE_REMOVED,
  DangerousChangeType.OPTIONAL_INPUT_FIELD_ADDED,
  DangerousChangeType.OPTIONAL_ARG_ADDED,
])

const addition = (kind: string, description: string): ApiChange => ({ severity: 'addition', kind, description })

function additions(before: GraphQLSchema, after: GraphQLSchema): readonly ApiChange[] {
  return Object.values(after.getTypeMap()).flatMap((type) => {
    const known = before.getType(type.name)
    return known === undefined
      ? [addition('TYPE_ADDED', `${type.name} was added.`)]
      : [...addedMembers(known, type), ...newDeprecations(known, type)]
  })
}

/** Inputs that now take exactly one member, and took any before; graphql-js does not report it. */
const narrowed = (before: GraphQLSchema, after: GraphQLSchema): readonly ApiChange[] =>
  Object.values(after.getTypeMap()).flatMap((type): readonly ApiChange[] => {
    const known = before.getType(type.name)
    if (!isInputObjectType(type) || !isInputObjectType(known) || known.isOneOf === type.isOneOf) return []
    return type.isOneOf
      ? [{ severity: 'breaking', kind: 'ONE_OF', description: `${type.name} takes exactly one member now.` }]
      : [addition('ONE_OF', `${type.name} takes any members now.`)]
  })

function newDeprecations(before: GraphQLNamedType, after: GraphQLNamedType): readonly ApiChange[] {
  const known = deprecable(before)
  return [...deprecable(after)].flatMap(([name, reason]) =>
    reason === null || known.get(name) !== null
      ? []
      : [addition('DEPRECATED', `${after.name}.${name} is deprecated: ${reason}`)],
  )
}

function deprecable(type: GraphQLNamedType): ReadonlyMap<string, string | null> {
  const members = isEnumType(type)
    ? type.getValues()
    : isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields())
      : []
  return new Map(members.map(({ name, deprecationReason }) => [name, deprecationReason ?? null]))
}

function addedMembers(before: GraphQLNamedType, after: GraphQLNamedType): readonly ApiChange[] {
  if (isEnumType(before) || isEnumType(after)) return []
  const known = typeMembers(before)
  return [...typeMembers(after)].flatMap(([name, isDemanded]) =>
    known.has(name) || isDemanded
      ? []
      : [addition(name.includes('(') ? 'ARG_ADDED' : 'FIELD_ADDED', `${name} was added.`)],
  )
}

/** Fields and arguments, and whether they are required: then adding them is breaking. */
function typeMembers(type: GraphQLNamedType): ReadonlyMap<string, boolean> {
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields())
    return new Map(fields.map((field) => [`${type.name}.${field.name}`, isRequiredInputField(field)]))
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return new Map()
  return new Map(
    Object.values(type.getFields()).flatMap((field): (readonly [string, boolean])[] => [
      [`${type.name}.${field.name}`, false],
      ...field.args.map((arg) => [`${type.name}.${field.name}(${arg.name}:)`, isRequiredArgument(arg)] as const),
    ]),
  )
}
