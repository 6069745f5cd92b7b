import type { GraphQLSchema } from 'graphql'
import { clientDeclarations, functionsDeclarations, moduleDeclarations, rowsDeclarations } from './declarations.ts'
import { layOut, rowsFile } from './layout.ts'
import { clientScript, functionsScript, moduleScript } from './modules.ts'
import type { Readings } from './scalars.ts'

/** Texts by path. */
export type Files = Readonly<Record<string, string>>

/**
 * A role's schema -> the files of its client: one per table and enum, what they share, what reading takes, functions,
 * and all tables together. The same schema gives the same bytes.
 */
export function clientFiles(schema: GraphQLSchema, readings: Readings): Files {
  const layout = layOut(schema)
  const files: Record<string, string> = {
    'db.d.ts': clientDeclarations(layout),
    'db.js': clientScript(layout),
    'functions.d.ts': functionsDeclarations(layout, readings),
    'functions.js': functionsScript(layout, readings),
    [`${rowsFile.path}.d.ts`]: rowsDeclarations(layout, readings),
  }
  for (const module of layout.modules) {
    files[`${module.path}.d.ts`] = moduleDeclarations(layout, readings, module)
    const script = moduleScript(layout, readings, module)
    if (script !== null) files[`${module.path}.js`] = script
  }
  return files
}
