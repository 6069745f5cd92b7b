import {
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isRequiredInputField,
  typeFromAST,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  type VariableDefinitionNode,
} from 'graphql'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import { parts } from '../../../runtime/contract/name-parts.ts'
import { changeOperatorNames } from '../../../runtime/sql/change-operators.ts'
import type { RoleView } from '../../../runtime/engine/schema/schema.ts'
import {
  sampleScalars,
  sampleVariables,
  sampling,
  type Sample,
} from '../../../runtime/graphql/prepared/sample-variables.ts'

type Given = Readonly<Record<string, unknown>>

/** A page is the smaller of the requested and the allowed size. */
const mostInt = 2_147_483_647

/**
 * The variables for the maximum cost of a document: none, and thus its defaults; and all with an example value, with
 * pages of any size and empty filters, once for each value of Booleans, and with a node of each type that it names.
 */
export function variablesFor(
  { schema, visible }: RoleView,
  definitions: readonly VariableDefinitionNode[],
  text: string,
): readonly Given[] {
  const conditions = new Set([...text.matchAll(/\bon\s+(\w+)/g)].map(([, name]) => name))
  const named = conditions.size === 0 ? [] : visible.exposed.filter(({ name }) => conditions.has(name))
  const ids = [undefined, ...named.map(nodeIdOf)]
  const changes = changeParts.filter((part) => new RegExp(`${part}\\b`).test(text))
  const objects = (changes.length > 1 ? changes : [null]).map(emptiest)
  const columns = comparedColumns(schema, definitions)
  const tried = [true, false].flatMap((Boolean) =>
    ids.flatMap((ID) =>
      objects.flatMap((object) =>
        columns.map((enums) => {
          const leaves = { ...sampleScalars, Int: mostInt, Boolean, ID, ...enums }
          const all = sampleVariables(schema, definitions, sampling(leaves, object))
          return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
        }),
      ),
    ),
  )
  return [...new Map([{}, ...tried].map((given) => [JSON.stringify(given), given])).values()]
}

/** Each column that variables may name, by the enum's name, because not all can be compared; once none without such. */
function comparedColumns(schema: GraphQLSchema, definitions: readonly VariableDefinitionNode[]): readonly Given[] {
  const enums = definitions.flatMap(({ type: node }): readonly GraphQLEnumType[] => {
    const type = typeFromAST(schema, node)
    const named = type && getNamedType(type)
    return isEnumType(named) && named.name.endsWith(parts.comparedColumn) ? [named] : []
  })
  const values = enums.map((type) => type.getValues().map(({ name }) => ({ [type.name]: name })))
  const most = Math.max(1, ...values.map(({ length }) => length))
  return Array.from({ length: most }, (_, turn) => Object.assign({}, ...values.map((all) => all[turn % all.length])))
}

/** Of an arbitrary row (spec/graphql.md 7.1). */
const nodeIdOf = ({ schema, relation, key }: EntityFacts): string =>
  Buffer.from(JSON.stringify([schema, relation, ...(key ?? []).map(() => 1)])).toString('base64')

const changeParts = [parts.updateInput, ...changeOperatorNames.map((name) => parts[name])]

/**
 * Written inputs are not empty; of all others only required members are given.
 * @param change the only non-empty input of an update, because no column is changed twice; null: all are non-empty
 */
const emptiest =
  (change: string | null) =>
  (type: GraphQLInputObjectType, sample: Sample): Given | undefined => {
    if (type.isOneOf) return firstLeaf(type, sample)
    const written = [parts.insertInput, ...(change === null ? changeParts : [change])]
    const isWritten = written.some((part) => type.name.endsWith(part))
    const fields = Object.values(type.getFields()).filter((field) => isWritten || isRequiredInputField(field))
    const members = fields.map((field) => [field.name, sample(field.type)] as const)
    return Object.fromEntries(members.filter(([, value]) => value !== undefined))
  }

/** The first possible member of an input with exactly one; undefined: none. */
function firstLeaf(type: GraphQLInputObjectType, sample: Sample): Given | undefined {
  const leaf = Object.values(type.getFields()).find((field) => isLeafType(getNullableType(field.type)))
  return leaf && { [leaf.name]: sample(leaf.type) }
}
