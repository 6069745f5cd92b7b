import { basename, join } from 'node:path'
import { localDisk } from '../../../compiler/emit/disk.ts'

/** An operation of a case: a GraphQL document and, in comment lines on top of it, who asks and with what. */
export interface GoldenDocument {
  readonly name: string
  readonly text: string
  readonly role: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  readonly extensions: Readonly<Record<string, unknown>>
}

/** The documents of a case's folder `operations`, by name. Rejects when anything else stands there. */
export async function readDocuments(folder: string): Promise<readonly GoldenDocument[]> {
  const files = [...(await localDisk.files(folder))].sort()
  const stray = files.find((file) => !/^[a-z0-9-]+\.graphql$/.test(file))
  if (stray !== undefined) throw new Error(`${join(folder, stray)} is no document of a case`)
  return Promise.all(
    files.map(async (file) => {
      const text = await localDisk.read(join(folder, file))
      return readDocument(basename(file, '.graphql'), text ?? '')
    }),
  )
}

/** `# role: x`, `# variables: {...}`, `# claims: {...}`, `# extensions: {...}`; any other comment is for people. */
function readDocument(name: string, text: string): GoldenDocument {
  const top = /^(?:#.*\n)*/.exec(text)?.[0] ?? ''
  const lines = [...top.matchAll(/^# (role|variables|claims|extensions): (.+)$/gm)]
  const given = Object.fromEntries(lines.map(([, key, value]) => [key, value]))
  return {
    name,
    text,
    role: given['role'] ?? 'anon',
    variables: JSON.parse(given['variables'] ?? '{}') as GoldenDocument['variables'],
    claims: JSON.parse(given['claims'] ?? '{}') as GoldenDocument['claims'],
    extensions: JSON.parse(given['extensions'] ?? '{}') as GoldenDocument['extensions'],
  }
}
