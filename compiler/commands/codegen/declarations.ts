import { getNamedType, isEnumType, isInputObjectType } from 'graphql'
import { StructureKind, type FunctionDeclarationStructure, type InterfaceDeclarationStructure } from 'ts-morph'
import { commentText, jsString } from '../../emit/js-text.ts'
import type { PrintedStatements } from '../../emit/printer.ts'
import { withImports, type MentionFrom } from './imports.ts'
import {
  declaringFile,
  madeOf,
  rowsFile,
  type DeclaredType,
  type Layout,
  type Module,
  type ClientFile,
} from './layout.ts'
import { askedTables, functionsOf, isAskable, liveFunctionsOf, methodsOf, type ClientMethod } from './methods.ts'
import { pageArguments } from './page.ts'
import { createTypeText, objectType, type ClientMember, type TypeText } from './type-text.ts'

/** Statements of `.d.ts` files: the content of a schema, for the TypeScript compiler and for the editor. */

interface Printing {
  readonly layout: Layout
  readonly mentionFrom: MentionFrom
  readonly mention: (type: string) => string
  readonly text: TypeText
}

const declarations = (
  layout: Layout,
  path: string,
  print: (printing: Printing) => PrintedStatements,
): PrintedStatements =>
  withImports(path, { namespaceImport: 'sdk', isTypeOnly: true }, (mentionFrom) => {
    const mention = (type: string): string => {
      const module = layout.moduleOf(type)
      return mentionFrom(module && declaringFile(module, type), layout.identifier(type))
    }
    const mentionPage = ({ table }: Module): string => (table === null ? 'sdk.Page' : mentionFrom(rowsFile, table.page))
    return print({ layout, mentionFrom, mention, text: createTypeText(layout, mention, mentionPage) })
  })

export const moduleDeclarations = (layout: Layout, module: Module): PrintedStatements =>
  declarations(layout, module.path, (printing) => [
    ...declareMethods(printing, module),
    ...declareTypes(printing, module, module),
  ])

/** The selections of every table, and the arguments of its collections. */
export const rowsDeclarations = (layout: Layout): PrintedStatements =>
  declarations(layout, rowsFile.path, (printing) =>
    layout.modules.flatMap((module) => [...declarePage(printing, module), ...declareTypes(printing, module, rowsFile)]),
  )

const declareTypes = (printing: Printing, module: Module, file: ClientFile): PrintedStatements =>
  module.types.filter(({ name }) => declaringFile(module, name) === file).flatMap((type) => declare(printing, type))

export const functionsDeclarations = (layout: Layout): PrintedStatements =>
  declarations(layout, 'functions', (printing) => {
    const declareAll = (
      name: string,
      methods: readonly ClientMethod[],
      client: string,
      help: string,
    ): PrintedStatements => {
      const members = methods.map((method) => declareMethod(printing, method))
      return [declareInterface(name, members), declareMaker(`create${name}`, client, name, help)]
    }
    const live = liveFunctionsOf(layout)
    const help = 'The functions of the database, called as the signed-in user of the client.'
    return [
      ...declareAll('Functions', functionsOf(layout), 'sdk.Asker', help),
      ...(live.length === 0 ? [] : declareAll('LiveFunctions', live, 'sdk.Watcher', 'Functions that can be watched.')),
    ]
  })

export const clientDeclarations = (layout: Layout): PrintedStatements =>
  declarations(layout, 'db', ({ mentionFrom }) => {
    const tables = askedTables(layout)
    const members = tables.map(({ path, table }) => ({ name: table.name, type: mentionFrom({ path }, table.methods) }))
    const help = 'Every table, read and written as the signed-in user of the client.'
    return [declareInterface('Db', members), declareMaker('createDb', clientOf(layout), 'Db', help)]
  })

/** The client that methods of tables need. */
const clientOf = ({ schema }: Layout): string => (schema.getSubscriptionType() == null ? 'sdk.Asker' : 'sdk.Watcher')

const declareInterface = (
  name: string,
  members: readonly ClientMember[],
  base?: string,
): InterfaceDeclarationStructure => ({
  kind: StructureKind.Interface,
  name,
  isExported: true,
  ...(base !== undefined && { extends: [base] }),
  properties: members.map((member) => ({ ...member, isReadonly: true })),
})

const declareMaker = (
  name: string,
  client: string,
  returnType: string,
  help?: string,
): FunctionDeclarationStructure => ({
  kind: StructureKind.Function,
  name,
  isExported: true,
  hasDeclareKeyword: true,
  parameters: [{ name: 'client', type: client }],
  returnType,
  ...(help !== undefined && { docs: [help] }),
})

function declare({ layout, text, mention }: Printing, type: DeclaredType): PrintedStatements {
  const name = layout.identifier(type.name)
  if (isEnumType(type)) {
    const values = type.getValues().map((value) => jsString(value.name))
    return [{ kind: StructureKind.TypeAlias, name, isExported: true, type: values.join(' | ') }]
  }
  if (isInputObjectType(type)) {
    const inputs = Object.values(type.getFields())
    if (!type.isOneOf) return [declareInterface(name, inputs.map(text.input))]
    const oneOf = `sdk.OneOf<${objectType(inputs.map(text.member))}>`
    return [{ kind: StructureKind.TypeAlias, name, isExported: true, type: oneOf }]
  }
  const part = layout.rowOf(type.name)
  const rows = layout.rowsOf(type.name)
  if (rows?.kind === 'edge') return []
  const fields = Object.values(type.getFields()).filter(isAskable)
  if (part?.kind === 'figures')
    return [
      declareInterface(
        name,
        fields.map((field) => text.figure(part.row, field)),
      ),
    ]
  if (rows !== undefined || part?.kind === 'connection') {
    const further = fields.filter((field) => field.name !== 'edges' && field.name !== 'pageInfo')
    const of = part === undefined ? [] : madeOf(layout, type, part).map(mention)
    const base =
      rows === undefined ? `sdk.Connection<${of.join(', ')}>` : `sdk.EitherConnection<${text.either(rows.of)}>`
    return [declareInterface(name, further.map(text.field), base)]
  }
  if (part !== undefined) return []
  if (layout.moduleOf(type.name)?.table?.row !== type) return [declareInterface(name, fields.map(text.field))]
  // The owner's descriptions of a table and its columns.
  const documented = fields.map((field) => ({
    ...text.field(field),
    docs: docsOf(field.description, field.deprecationReason),
  }))
  return [{ ...declareInterface(name, documented), docs: docsOf(type.description) }]
}

function declareMethods(printing: Printing, { table }: Module): PrintedStatements {
  const methods = table === null ? [] : methodsOf(printing.layout, table)
  if (table === null || methods.length === 0) return []
  const members = methods.map((method) => declareMethod(printing, method))
  return [declareInterface(table.methods, members), declareMaker(table.name, clientOf(printing.layout), table.methods)]
}

function declareMethod({ layout, text, mention }: Printing, method: ClientMethod): ClientMember {
  const { name, help, operation, field, rows } = method
  const row = layout.rowOf(getNamedType(field.type).name)?.row
  const answered = text.answered(field)
  const kind = rows ? 'List' : answered.startsWith('sdk.Of<') ? 'Ask' : 'Call'
  const value = rows && row !== undefined ? mention(row.name) : answered
  const live = operation === 'subscription' ? 'Live' : ''
  const type = `sdk.${live}${kind}<${value}, ${text.takes(field)}>`
  return { name, type, docs: docsOf(help, field.deprecationReason) }
}

function declarePage({ mention }: Printing, module: Module): PrintedStatements {
  if (module.table === null) return []
  const members = pageArguments(module).map(({ name, type, list }) => {
    const mentioned = mention(type)
    const taken = list ? `readonly ${mentioned}[]` : mentioned
    return { name, type: `sdk.Maybe<${taken}>`, hasQuestionToken: true }
  })
  return [declareInterface(module.table.page, members, 'sdk.Page')]
}

/** A comment of one line, and of another for a deprecation; none without either. */
function docsOf(text: string | null | undefined, deprecated?: string | null): string[] {
  const lines = [
    ...(text === null || text === undefined || text === '' ? [] : [commentText(text)]),
    ...(deprecated === null || deprecated === undefined ? [] : [`@deprecated ${commentText(deprecated)}`]),
  ]
  return lines.length === 0 ? [] : [lines.join('\n')]
}
