import { IndentationText, Project, QuoteKind, type StatementStructures } from 'ts-morph'

export type PrintedStatements = readonly (StatementStructures | string)[]

export type Print = (fileName: string, statements: PrintedStatements) => string

/**
 * A printer with ts-morph. Nothing is resolved and nothing is kept: a printed file is removed immediately, because two
 * thousand syntax trees would stay in memory otherwise.
 */
export function createPrinter(): Print {
  const project = new Project({
    useInMemoryFileSystem: true,
    skipLoadingLibFiles: true,
    skipFileDependencyResolution: true,
    compilerOptions: { noLib: true, noResolve: true, types: [] },
    manipulationSettings: { indentationText: IndentationText.TwoSpaces, quoteKind: QuoteKind.Single },
  })
  return (fileName, statements) => {
    const file = project.createSourceFile(fileName, { statements: [...statements] })
    const text = file.getFullText()
    file.forget()
    return text
  }
}
