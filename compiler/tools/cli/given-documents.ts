import { readFile, writeFile } from 'node:fs/promises'
import { messageOf } from '../../../runtime/lib/message-of.ts'
import type { GivenDocument } from '../diff/documents.ts'
import { findFiles } from '../diff/find-files.ts'
import { withFragments } from '../diff/fragments.ts'
import { ArtifactFailure } from '../../../runtime/engine/load.ts'
import { compiledDocuments } from '../compiled/documents.ts'
import { misuse, type CommandOption, type GivenOptions } from './command.ts'
import { textOption } from './given-options.ts'

/** Where commands that look at documents take them from. */
export const documentOptions = {
  documents: { value: 'GLOB', help: 'Files of documents, such as "src/**/*.graphql".' },
  artifacts: { value: 'DIR', help: 'In place of --documents: those that `compile` wrote to this folder.' },
} as const satisfies Readonly<Record<string, CommandOption>>

/** Null: the command line names no documents. Rejects with CommandFailure. */
export async function namedDocuments(given: GivenOptions): Promise<readonly GivenDocument[] | null> {
  const [pattern, folder] = [textOption(given, 'documents'), textOption(given, 'artifacts')]
  if (folder === null) return pattern === null ? null : givenDocuments(pattern)
  if (pattern !== null) throw misuse('--artifacts takes the place of --documents')
  try {
    return compiledDocuments(folder)
  } catch (error) {
    throw error instanceof ArtifactFailure ? misuse(`--artifacts: ${error.message}`) : error
  }
}

/** The documents of the files that `--documents` names, which share their fragments. Rejects with CommandFailure. */
export async function givenDocuments(pattern: string): Promise<readonly GivenDocument[]> {
  const paths = await findFiles(pattern).catch(() => [])
  if (paths.length === 0) throw misuse(`--documents ${pattern} names no file`)
  const documents: GivenDocument[] = []
  for (const source of paths) documents.push({ source, text: await readGiven(source, '--documents'), roles: null })
  return withFragments(documents)
}

const misusedFile = (option: string, path: string, act: string) => (error: unknown) => {
  throw misuse(`${option}: ${path} cannot be ${act} (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`)
}

/** The text of a file that an option names. Rejects with CommandFailure. */
export const readGiven = (path: string, option: string): Promise<string> =>
  readFile(path, 'utf8').catch(misusedFile(option, path, 'read'))

/** Writes the file that an option names. Rejects with CommandFailure. */
export const writeOut = (path: string, text: string, option = '--out'): Promise<void> =>
  writeFile(path, text).catch(misusedFile(option, path, 'written'))
