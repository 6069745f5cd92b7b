import { Kind, parse, print, visit } from 'graphql'
import type { Question } from './interpreter/world.ts'

const nothing = { kind: Kind.NULL } as const

/** A document without its values and aliases: failures of one form mostly have one cause. */
export const formOf = ({ document }: Pick<Question, 'document'>): string =>
  print(
    visit(parse(document, { noLocation: true }), {
      Field: (field) => ({ ...field, alias: undefined }),
      OperationDefinition: (operation) => ({ ...operation, variableDefinitions: [] }),
      Variable: () => nothing,
      IntValue: () => nothing,
      FloatValue: () => nothing,
      StringValue: () => nothing,
      BooleanValue: () => nothing,
      EnumValue: () => nothing,
    }),
  )
