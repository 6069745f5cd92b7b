import { getNamedType, isObjectType, isUnionType, type GraphQLArgument, type GraphQLObjectType } from 'graphql'
import { StructureKind, VariableDeclarationKind, type VariableStatementStructure } from 'ts-morph'
import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'
import { block, jsString } from '../../emit/js-text.ts'
import type { PrintedStatements } from '../../emit/printer.ts'
import { withImports, type MentionFrom } from './imports.ts'
import { madeOf, typesOf, type ClientTable, type DeclaredType, type Layout, type Module } from './layout.ts'
import {
  askedTables,
  functionsOf,
  liveFunctionsOf,
  methodsOf,
  type ClientMethod,
  type ClientOperation,
} from './methods.ts'
import { argumentsOf, graphqlType, pageArguments } from './page.ts'
import { isNumber, type ClientField } from './type-text.ts'

/**
 * Statements of `.js` files: the few facts about a schema that requests need (FieldFacts of the client library).
 *
 * Modules are cyclic, so imports are used inside of functions only. Their names contain a `$`, which GraphQL names
 * cannot.
 */

interface Printing {
  readonly layout: Layout
  readonly mention: MentionFrom
}

/** Null if a module declares types only. */
export function moduleScript(layout: Layout, module: Module): PrintedStatements | null {
  if (!module.types.some(isObjectType)) return null
  return script(layout, module.path, (printing) => [
    ...module.types.flatMap((type) => exportFacts(printing, type)),
    ...(module.table === null ? [] : exportTable(printing, module, module.table)),
  ])
}

export const functionsScript = (layout: Layout): PrintedStatements =>
  script(layout, 'functions', (printing) => {
    const live = liveFunctionsOf(layout)
    const all = exportMethods(printing, 'createFunctions', functionsOf(layout))
    return live.length === 0 ? [all] : [all, exportMethods(printing, 'createLiveFunctions', live)]
  })

export const clientScript = (layout: Layout): PrintedStatements =>
  script(layout, 'db', ({ mention }) => {
    const tables = askedTables(layout)
    return [
      exportMaker(
        'createDb',
        tables.map(({ path, table: { name } }) => `${name}: ${mention({ path }, name)}($client)`),
      ),
    ]
  })

const script = (layout: Layout, path: string, print: (printing: Printing) => PrintedStatements): PrintedStatements =>
  withImports(path, { namespaceImport: '$sdk', isTypeOnly: false }, (mention) => print({ layout, mention }))

const exportConstant = (name: string, initializer: string): VariableStatementStructure => ({
  kind: StructureKind.VariableStatement,
  isExported: true,
  declarationKind: VariableDeclarationKind.Const,
  declarations: [{ name, initializer }],
})

/** The function that creates an object with these members from a client. */
const exportMaker = (name: string, members: readonly string[]): VariableStatementStructure =>
  exportConstant(name, `($client) => (${block(members)})`)

const inBraces = (members: readonly string[]): string => (members.length === 0 ? '{}' : `{ ${members.join(', ')} }`)

const factsName = (type: string): string => `${type}$`
const pageName = (row: string): string => `${row}$page`

function exportFacts(printing: Printing, type: DeclaredType): PrintedStatements {
  const part = printing.layout.rowOf(type.name)
  const rows = printing.layout.rowsOf(type.name)
  if (!isObjectType(type) || part?.kind === 'edge' || part?.kind === 'written' || rows?.kind === 'edge') return []
  const mention = (name: string): string => mentionFacts(printing, name)
  const common =
    part?.kind === 'connection'
      ? [`...$sdk.connection(${madeOf(printing.layout, type, part).map(mention).join(', ')})`]
      : rows !== undefined
        ? [`...$sdk.eitherConnection(${eitherFacts(printing, rows.of)})`]
        : []
  const known = ['edges', 'pageInfo']
  const fields = Object.values(type.getFields()).filter(({ name }) => common.length === 0 || !known.includes(name))
  const members = fields.flatMap((field) => {
    if (part?.kind === 'figures' && isNumber(part.row, field)) return []
    const facts = readingFacts(printing, field)
    return facts.length === 0 ? [] : [`${field.name}: ${inBraces(facts)}`]
  })
  return [exportConstant(factsName(type.name), `() => (${block([...common, ...members])})`)]
}

const mentionFacts = ({ layout, mention }: Printing, type: string): string =>
  mention(layout.moduleOf(type), factsName(type))

function readingFacts(printing: Printing, field: ClientField): readonly string[] {
  const named = getNamedType(field.type)
  const reading = printing.layout.readings[named.name as ScalarName]
  return [
    ...(isObjectType(named) ? [`of: ${typeFacts(printing, named.name)}`] : []),
    ...(isUnionType(named)
      ? [`of: ${eitherFacts(printing, typesOf(printing.layout.schema, named))}`, 'either: true']
      : []),
    ...(reading === undefined ? [] : [`as: ${jsString(reading)}`]),
    ...(field.args.length === 0 ? [] : [`args: ${argumentFacts(printing, field)}`]),
  ]
}

const eitherFacts = (printing: Printing, types: readonly GraphQLObjectType[]): string =>
  `() => (${inBraces(types.map(({ name }) => `${name}: { of: ${typeFacts(printing, name)} }`))})`

function typeFacts(printing: Printing, type: string): string {
  const part = printing.layout.rowOf(type)
  return part?.kind === 'written'
    ? `$sdk.written(${mentionFacts(printing, part.row.name)})`
    : mentionFacts(printing, type)
}

function argumentFacts({ layout, mention }: Printing, field: ClientField): string {
  const { page, own } = argumentsOf(layout, field)
  const common = page === null ? null : mention(page, pageName(page.table?.row.name ?? ''))
  if (common !== null && own.length === 0) return common
  return `{ ${[...(common === null ? [] : [`...${common}`]), ...own.map(argumentFact)].join(', ')} }`
}

const argumentFact = ({ name, type }: GraphQLArgument): string => `${name}: ${jsString(String(type))}`

function exportTable(printing: Printing, module: Module, table: ClientTable): PrintedStatements {
  const own = pageArguments(module).map((argument) => `${argument.name}: ${jsString(graphqlType(argument))}`)
  const page = exportConstant(pageName(table.row.name), inBraces(['...$sdk.page', ...own]))
  const methods = methodsOf(printing.layout, table)
  return methods.length === 0 ? [page] : [page, exportMethods(printing, table.name, methods)]
}

/** Functions of the client library, for the rows of a page and for a field's answer. */
const senders: Readonly<Record<ClientOperation, { readonly rows: string; readonly whole: string }>> = {
  query: { rows: 'list', whole: 'query' },
  mutation: { rows: 'list', whole: 'mutate' },
  subscription: { rows: 'watchList', whole: 'watch' },
}

function exportMethods(printing: Printing, name: string, methods: readonly ClientMethod[]): VariableStatementStructure {
  const members = methods.map(({ name: member, operation, rows, field }) => {
    const send = senders[operation][rows ? 'rows' : 'whole']
    return `${member}: $sdk.${send}($client, '${field.name}', ${inBraces(readingFacts(printing, field))})`
  })
  return exportMaker(name, members)
}
