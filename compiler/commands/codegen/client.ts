import type { GraphQLSchema } from 'graphql'
import { createPrinter, type PrintedStatements } from '../../emit/printer.ts'
import { clientDeclarations, functionsDeclarations, moduleDeclarations, rowsDeclarations } from './declarations.ts'
import { layOut, rowsFile } from './layout.ts'
import { clientScript, functionsScript, moduleScript } from './modules.ts'
import type { Readings } from './source.ts'

/** Texts by path. */
export type Files = Readonly<Record<string, string>>

/**
 * A role's schema -> the files of its client: one per table and enum, common types, readers, functions, and all tables
 * together. The same schema gives the same bytes.
 */
export function clientFiles(schema: GraphQLSchema, readings: Readings): Files {
  const layout = layOut(schema, readings)
  const print = createPrinter()
  const made: readonly (readonly [path: string, statements: PrintedStatements | null])[] = [
    ['db.d.ts', clientDeclarations(layout)],
    ['db.js', clientScript(layout)],
    ['functions.d.ts', functionsDeclarations(layout)],
    ['functions.js', functionsScript(layout)],
    [`${rowsFile.path}.d.ts`, rowsDeclarations(layout)],
    ...layout.modules.map((module) => [`${module.path}.d.ts`, moduleDeclarations(layout, module)] as const),
    ...layout.modules.map((module) => [`${module.path}.js`, moduleScript(layout, module)] as const),
  ]
  return Object.fromEntries(
    made.flatMap(([path, statements]) => (statements === null ? [] : [[path, print(path, statements)]])),
  )
}
