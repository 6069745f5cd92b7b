import { readFile, writeFile } from 'node:fs/promises'
import { messageOf } from '../../../runtime/lib/message-of.ts'
import type { GivenDocument } from '../diff/documents.ts'
import { findFiles } from '../diff/find-files.ts'
import { withFragments } from '../diff/fragments.ts'
import { misuse } from './command.ts'

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

/** Writes the file that `--out` names. Rejects with CommandFailure. */
export const writeOut = (path: string, text: string): Promise<void> =>
  writeFile(path, text).catch(misusedFile('--out', path, 'written'))
