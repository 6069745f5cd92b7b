import type { AttributeBuilder, Attributes } from '../../contract/builder.ts'
import { object, objectFrom, type Pair } from '../../sql/json.ts'
import { literal } from '../../sql/literal.ts'
import type { CompositeMembers } from '../plan/types.ts'

/** A composite value as a JSON object; null where the whole value is, which one of nulls is not (PostgreSQL manual 9.2). */
export const compositeObject = (attributes: Attributes | undefined, members: CompositeMembers, value: string): string =>
  `case when ${value} is distinct from null then ${object(pairsOf(attributes, members, value))} end`

/**
 * What a function answers, which is called once; null in every attribute is no answer, as with rows
 * (spec/graphql.md 9.3).
 */
export const calledComposite = (
  attributes: Attributes | undefined,
  members: CompositeMembers,
  call: string,
  alias: string,
): string => objectFrom(pairsOf(attributes, members, alias), `${call} ${alias} where not (${alias} is null)`)

const pairsOf = (attributes: Attributes | undefined, members: CompositeMembers, value: string): readonly Pair[] =>
  members.map((member): Pair => {
    if (member.kind === 'typename') return [member.key, `${literal(member.name)}::text`]
    const { of, json, attributes: inner } = attributeOf(attributes, member.attribute)
    return [
      member.key,
      member.kind === 'attribute' ? json(of(value)) : compositeObject(inner, member.members, of(value)),
    ]
  })

export function attributeOf(attributes: Attributes | undefined, name: string): AttributeBuilder {
  const attribute = attributes !== undefined && Object.hasOwn(attributes, name) ? attributes[name] : undefined
  if (attribute === undefined) throw new Error(`the builder knows no attribute ${name}`)
  return attribute
}
