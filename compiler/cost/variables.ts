import { isRequiredInputField, type GraphQLInputObjectType, type GraphQLSchema, type VariableDefinitionNode } from 'graphql'
import { parts } from '../../runtime/contract/type-names.ts'
import { sampleScalars, sampleVariables, sampling, type Sample } from '../../runtime/graphql/sample-variables.ts'

type Given = Readonly<Record<string, unknown>>

/** A page is the smaller of what is asked for and what is allowed. */
const mostInt = 2_147_483_647

/**
 * What a document is tried with, so that it costs as much as it may: no variables, and thus its defaults; and all of them that
 * can be thought up, with pages of any size and empty filters, once with what depends on a Boolean and once without.
 */
export function variablesFor(schema: GraphQLSchema, definitions: readonly VariableDefinitionNode[]): readonly Given[] {
  const tried = [true, false].map((Boolean) => {
    const all = sampleVariables(schema, definitions, sampling({ ...sampleScalars, Int: mostInt, Boolean }, emptiest))
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  })
  return [...new Map([{}, ...tried].map((given) => [JSON.stringify(given), given])).values()]
}

/** What is written has something in it; of everything else only what has to be there. */
function emptiest(type: GraphQLInputObjectType, sample: Sample): Given {
  const isWritten = [parts.insertInput, parts.updateInput].some((part) => type.name.endsWith(part))
  const fields = Object.values(type.getFields()).filter((field) => isWritten || isRequiredInputField(field))
  const members = fields.map((field) => [field.name, sample(field.type)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}
