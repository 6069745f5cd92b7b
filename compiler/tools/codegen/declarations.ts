import { getNamedType, isEnumType, isInputObjectType, type GraphQLInputObjectType } from 'graphql'
import { jsString } from '../../emit/js-text.ts'
import { createImports, type Imports } from './imports.ts'
import {
  declaringFile,
  madeOf,
  rowsFile,
  type DeclaredType,
  type Layout,
  type Module,
  type ClientFile,
} from './layout.ts'
import {
  askedTables,
  functionsOf,
  isAskable,
  isLive,
  liveFunctionsOf,
  methodsOf,
  type ClientMethod,
} from './methods.ts'
import type { Readings } from './scalars.ts'
import { pageArguments } from './page.ts'
import { comment, createTypeText, type TypeText } from './type-text.ts'

/** Texts of `.d.ts` files: what a schema holds, for the TypeScript compiler and for the editor. */

/** What the declarations of one file are made with. */
interface Printing {
  readonly layout: Layout
  readonly imports: Imports
  readonly mention: (type: string) => string
  readonly text: TypeText
}

export function moduleDeclarations(layout: Layout, readings: Readings, module: Module): string {
  const printing = createPrinting(layout, readings, module.path)
  return fileText(printing, [...declareMethods(printing, module), ...declareTypes(printing, module, module)])
}

/** What can be selected of every table, and how its collections are asked for. */
export function rowsDeclarations(layout: Layout, readings: Readings): string {
  const printing = createPrinting(layout, readings, rowsFile.path)
  return fileText(
    printing,
    layout.modules.flatMap((module) => [...declarePage(printing, module), ...declareTypes(printing, module, rowsFile)]),
  )
}

/** The types of a module that stand in this file. */
const declareTypes = (printing: Printing, module: Module, file: ClientFile): readonly string[] =>
  module.types.filter(({ name }) => declaringFile(module, name) === file).flatMap((type) => declare(printing, type))

export function functionsDeclarations(layout: Layout, readings: Readings): string {
  const printing = createPrinting(layout, readings, 'functions')
  const declareAll = (methods: readonly ClientMethod[]): readonly string[] =>
    methods.map((method) => declareMethod(printing, method))
  const live = liveFunctionsOf(layout)
  return fileText(printing, [
    declareInterface('Functions', declareAll(functionsOf(layout))),
    '/** The functions of the database, called as the signed-in user of the client. */\n' +
      'export declare function createFunctions(client: sdk.Asker): Functions',
    ...(live.length === 0
      ? []
      : [
          declareInterface('LiveFunctions', declareAll(live)),
          '/** Functions whose results can be watched. */\n' +
            'export declare function createLiveFunctions(client: sdk.Watcher): LiveFunctions',
        ]),
  ])
}

export function clientDeclarations(layout: Layout): string {
  const tables = askedTables(layout)
  const imported = tables.map(({ path, table }) => `import type { ${table.methods} } from './${path}.js'`)
  const members = tables.map(({ table }) => `readonly ${table.name}: ${table.methods}`)
  return joined([
    ["import type * as sdk from '@catalograph/client/sdk'", ...imported].join('\n'),
    declareInterface('Db', members),
    '/** Every table, read and written as the signed-in user of the client. */\n' +
      `export declare function createDb(client: ${clientOf(layout)}): Db`,
  ])
}

/** What the methods of tables need of a client. */
const clientOf = (layout: Layout): string => (isLive(layout) ? 'sdk.Watcher' : 'sdk.Asker')

function createPrinting(layout: Layout, readings: Readings, path: string): Printing {
  const imports = createImports(path)
  const mention = (type: string): string => imports.add(layout.declaredIn(type), layout.identifier(type))
  const mentionPage = ({ table }: Module): string => (table === null ? 'sdk.Page' : imports.add(rowsFile, table.page))
  return { layout, imports, mention, text: createTypeText({ layout, readings, mention, mentionPage }) }
}

const joined = (statements: readonly string[]): string => `${statements.join('\n\n')}\n`

/** The library is imported in any case, which also makes a file without imports a module. */
const fileText = ({ imports }: Printing, statements: readonly string[]): string =>
  joined([
    ["import type * as sdk from '@catalograph/client/sdk'", ...imports.lines('import type')].join('\n'),
    ...statements,
  ])

function declareInterface(name: string, members: readonly string[], base = ''): string {
  const lines = members.map((member) => `  ${member.replaceAll('\n', '\n  ')}\n`)
  return `export interface ${name}${base === '' ? '' : ` extends ${base}`} {${lines.length === 0 ? '' : `\n${lines.join('')}`}}`
}

function declare({ layout, text, mention }: Printing, type: DeclaredType): readonly string[] {
  const name = layout.identifier(type.name)
  if (isEnumType(type)) {
    const values = type.getValues().map((value) => jsString(value.name))
    return [`export type ${name} = ${values.join(' | ')}`]
  }
  if (isInputObjectType(type)) return [declareInput(text, name, type)]
  const part = layout.rowOf(type.name)
  const rows = layout.rowsOf(type.name)
  if (rows?.kind === 'edge') return []
  const fields = Object.values(type.getFields()).filter(isAskable)
  const further = fields.filter((field) => field.name !== 'edges' && field.name !== 'pageInfo')
  if (rows !== undefined)
    return [declareInterface(name, further.map(text.field), `sdk.EitherConnection<${text.either(rows.of)}>`)]
  if (part?.kind === 'connection') {
    const of = madeOf(layout, type, part).map(mention)
    return [declareInterface(name, further.map(text.field), `sdk.Connection<${of.join(', ')}>`)]
  }
  if (part?.kind === 'figures') {
    return [
      declareInterface(
        name,
        fields.map((field) => text.figure(part.row, field)),
      ),
    ]
  }
  if (part !== undefined) return []
  if (layout.moduleOf(type.name)?.table?.row !== type) return [declareInterface(name, fields.map(text.field))]
  // What the owner said of a table and its columns.
  const told = fields.map((field) => comment(field.description, field.deprecationReason) + text.field(field))
  return [comment(type.description) + declareInterface(name, told)]
}

function declareInput(text: TypeText, name: string, type: GraphQLInputObjectType): string {
  const fields = Object.values(type.getFields())
  if (!type.isOneOf) return declareInterface(name, fields.map(text.input))
  const members = fields.map((field) => `  ${text.member(field)}\n`)
  return `export type ${name} = sdk.OneOf<{\n${members.join('')}}>`
}

function declareMethods(printing: Printing, { table }: Module): readonly string[] {
  const methods = table === null ? [] : methodsOf(printing.layout, table)
  if (table === null || methods.length === 0) return []
  const members = methods.map((method) => declareMethod(printing, method))
  return [
    declareInterface(table.methods, members),
    `export declare function ${table.name}(client: ${clientOf(printing.layout)}): ${table.methods}`,
  ]
}

function declareMethod({ layout, text, mention }: Printing, method: ClientMethod): string {
  const { name, help, operation, field, rows } = method
  const row = layout.rowOf(getNamedType(field.type).name)?.row
  const answered = text.answered(field)
  const kind = rows ? 'List' : answered.startsWith('sdk.Of<') ? 'Ask' : 'Call'
  const value = rows && row !== undefined ? mention(row.name) : answered
  const live = operation === 'subscription' ? 'Live' : ''
  return `${comment(help, field.deprecationReason)}readonly ${name}: sdk.${live}${kind}<${value}, ${text.takes(field)}>`
}

function declarePage({ mention }: Printing, module: Module): readonly string[] {
  if (module.table === null) return []
  const members = pageArguments(module).map(({ name, type, list }) => {
    const mentioned = mention(type)
    return `readonly ${name}?: sdk.Maybe<${list ? `readonly ${mentioned}[]` : mentioned}>`
  })
  return [declareInterface(module.table.page, members, 'sdk.Page')]
}
