import { GraphQLError, parse, print, visit } from 'graphql'

/** A document with empty texts, numbers 0 and no comments: its structure without data. Null: it cannot be parsed. */
export function withoutValues(document: string): string | null {
  try {
    return print(
      visit(parse(document, { noLocation: true }), {
        StringValue: (node) => ({ ...node, value: '', block: false }),
        IntValue: (node) => ({ ...node, value: '0' }),
        FloatValue: (node) => ({ ...node, value: '0' }),
      }),
    )
  } catch (error) {
    if (error instanceof GraphQLError) return null
    throw error
  }
}
