import type { AttributeBuilder, Attributes } from '../../contract/builder.ts'
import { object, objectFrom } from '../../sql/json.ts'
import { literal, applied, sql, type Ident, type Pair, type Sql } from '../../sql/tree.ts'
import type { CompositeMembers } from '../plan/plan-nodes.ts'

/** A composite value as a JSON object; null only if the whole value is null (PostgreSQL manual 9.2). */
export const compositeObject = (attributes: Attributes | undefined, members: CompositeMembers, value: Sql): Sql =>
  sql`case when ${value} is distinct from null then ${object(pairsOf(attributes, members, value))} end`

/**
 * The result of a function, which is called once; null in every attribute means no result, as with rows
 * (spec/graphql.md 9.3).
 */
export const calledComposite = (
  attributes: Attributes | undefined,
  members: CompositeMembers,
  call: Sql,
  alias: Ident,
): Sql =>
  objectFrom(pairsOf(attributes, members, alias), { from: [{ of: call, alias }], where: [sql`not (${alias} is null)`] })

const pairsOf = (attributes: Attributes | undefined, members: CompositeMembers, value: Sql): readonly Pair[] =>
  members.map((member): Pair => {
    if (member.kind === 'typename') return [member.key, sql`${literal(member.name)}::text`]
    const { of, json, attributes: inner } = attributeOf(attributes, member.attribute)
    const own = applied(of, value)
    return [member.key, member.kind === 'attribute' ? applied(json, own) : compositeObject(inner, member.members, own)]
  })

export function attributeOf(attributes: Attributes | undefined, name: string): AttributeBuilder {
  const attribute = attributes !== undefined && Object.hasOwn(attributes, name) ? attributes[name] : undefined
  if (attribute === undefined) throw new Error(`the builder knows no attribute ${name}`)
  return attribute
}
