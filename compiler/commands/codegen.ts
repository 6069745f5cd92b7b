import { clientPackage, isClientInstalled } from './codegen/client-installed.ts'
import { stat } from 'node:fs/promises'
import type { Files } from './codegen/client.ts'
import { applyChanges, findChanges, withGeneratedHeader } from './codegen/folder.ts'
import { parseReadings, possibleReadings, type Readings, type SchemaSource } from './codegen/source.ts'
import { findFiles } from './advise/diff/document-changes.ts'
import { fileDifference, printDifferences } from '../emit/diff.ts'
import { loadSchema, placeDescription, schemaSourceOf, placeOptions } from './codegen/place.ts'
import { watch } from './codegen/watch.ts'
import { type Command, type GivenOptions, type Terminal, CommandFailure, exitCodes, misuse } from './command.ts'

interface Task {
  readonly source: SchemaSource
  readonly role: string
  readonly out: string
  readonly readings: Readings
  /** Files whose documents are typed as well; null for none. */
  readonly documents: string | null
  /** Whether the documents are sent by their hashes. */
  readonly hashes: boolean
}

export const codegenCommand: Command = {
  name: 'codegen',
  summary: 'Write a typed client for a role.',
  description: placeDescription,
  options: {
    ...placeOptions,
    out: { value: 'DIR', help: 'Folder of the client; it should contain nothing else.' },
    scalars: {
      value: 'LIST',
      help: `JavaScript types of scalars, for example ${possibleReadings.join(',')}; string otherwise.`,
    },
    documents: { value: 'GLOB', help: 'Files with documents to generate types for, such as "src/**/*.{graphql,ts}".' },
    hashes: {
      value: null,
      help: 'With --documents: the client sends their hashes; documents/persisted-documents.json has the texts.',
    },
    check: { value: null, help: 'Write nothing; fail and show the difference when the folder is out of date.' },
    watch: { value: null, help: 'Keep running, and rewrite the files that a change of the schema changes.' },
  },
  run: async (given, terminal) => {
    if (given['hashes'] === true && given['documents'] === undefined) throw misuse('--hashes goes with --documents')
    if (given['check'] === true && given['watch'] === true) throw misuse('--check looks once; --watch writes')
    const stopRequested = given['watch'] === true ? terminal.stopRequested() : null
    const task = await taskOf(given, terminal)
    if (stopRequested !== null) return watchSource(task, stopRequested, terminal)
    const files = await makeFiles(task, terminal)
    if (given['check'] === true) return checkFolder(task, files, terminal)
    await writeClient(task, files, terminal)
    return exitCodes.done
  },
}

async function watchSource(task: Task, stopRequested: Promise<unknown>, terminal: Terminal): Promise<number> {
  await watch({
    version: async () => JSON.stringify([await task.source.version(), await timesOf(task.documents)]),
    onChange: async () => writeClient(task, await makeFiles(task, terminal), terminal),
    onFailure: (reason) => terminal.note(`catalograph: ${reason}`),
    stopRequested,
  })
  return exitCodes.done
}

async function taskOf(given: GivenOptions, terminal: Terminal): Promise<Task> {
  const { out, role = 'anon', scalars } = given
  if (typeof out !== 'string') throw misuse('--out is needed: the folder of the client')
  return {
    source: await schemaSourceOf(given, String(role), terminal),
    role: String(role),
    out: out.replace(/\/+$/, ''),
    readings: typeof scalars === 'string' ? readingsOf(scalars) : {},
    documents: typeof given['documents'] === 'string' ? given['documents'] : null,
    hashes: given['hashes'] === true,
  }
}

function readingsOf(text: string): Readings {
  const parsed = parseReadings(text)
  if ('readings' in parsed) return parsed.readings
  throw misuse(`--scalars does not know "${parsed.unknown}"; it takes ${possibleReadings.join(', ')}`)
}

async function timesOf(pattern: string | null): Promise<readonly (readonly [path: string, time: number])[]> {
  const paths = pattern === null ? [] : await findFiles(pattern)
  return Promise.all(paths.map(async (path) => [path, (await stat(path)).mtimeMs] as const))
}

async function makeFiles({ source, role, readings, documents, hashes }: Task, terminal: Terminal): Promise<Files> {
  const { note } = terminal
  note(`Reading the schema of ${role} from ${source.name}`)
  const schema = await loadSchema(source, role)
  note(documents === null ? 'Making the client' : 'Making the client and the documents')
  // Loaded here: the printer takes half a second, and the help lists this command too.
  const { generateFiles } = await import('./codegen/generate.ts')
  const files = await generateFiles(schema, { readings, pattern: documents, folder: process.cwd(), hashes })
  return withGeneratedHeader(files, role)
}

async function checkFolder({ out }: Task, files: Files, terminal: Terminal): Promise<number> {
  const changes = await findChanges(out, files)
  if (changes.files.length === 0) return exitCodes.done
  terminal.print(printDifferences(changes.files.map(fileDifference)).trimEnd())
  terminal.note(`catalograph: ${out} is out of date; run catalograph codegen without --check`)
  return exitCodes.failed
}

async function writeClient({ out }: Task, files: Files, terminal: Terminal): Promise<void> {
  const changes = await findChanges(out, files)
  const [foreign] = changes.foreign
  if (foreign !== undefined)
    throw new CommandFailure(`${out}/${foreign} was not made by codegen; choose another folder`)
  await applyChanges(out, changes)
  const count = Object.keys(files).length
  terminal.print(`${out}: ${count} files, ${changes.files.length} of them changed`)
  if (!isClientInstalled(out))
    terminal.note(
      `catalograph: they import ${clientPackage}, which is not installed there: npm install ${clientPackage}`,
    )
}
