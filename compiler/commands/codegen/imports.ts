import { StructureKind, type ImportDeclarationStructure } from 'ts-morph'
import type { PrintedStatements } from '../../emit/printer.ts'
import type { ClientFile } from './layout.ts'

export type MentionFrom = (from: ClientFile | undefined, name: string) => string

/**
 * The statements of a file, with the imports that they need, in the order of their paths. The client library is always
 * imported, which makes a file without other imports a module.
 * @param sdk the name of the client library
 */
export function withImports(
  path: string,
  sdk: { readonly namespaceImport: string; readonly isTypeOnly: boolean },
  statementsOf: (mention: MentionFrom) => PrintedStatements,
): PrintedStatements {
  const kind = StructureKind.ImportDeclaration
  const names = new Map<string, Set<string>>()
  const statements = statementsOf((from, name) => {
    if (from !== undefined && from.path !== path) names.set(from.path, (names.get(from.path) ?? new Set()).add(name))
    return name
  })
  const prefix = path.includes('/') ? '../' : './'
  const others = [...names].sort(([left], [right]) => (left < right ? -1 : 1))
  return [
    { kind, ...sdk, moduleSpecifier: '@catalograph/client/sdk' },
    ...others.map(([file, set]): ImportDeclarationStructure => ({
      kind,
      isTypeOnly: sdk.isTypeOnly,
      namedImports: [...set].sort(),
      moduleSpecifier: `${prefix}${file}.js`,
    })),
    ...statements,
  ]
}
