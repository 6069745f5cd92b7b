import { stat } from 'node:fs/promises'
import type { GraphQLSchema } from 'graphql'
import { clientFiles, type Files } from '../codegen/client.ts'
import { documentFiles } from '../codegen/documents.ts'
import { applyChanges, differencesOf, findChanges, withGeneratedHeader } from '../codegen/folder.ts'
import { parseReadings, possibleReadings, type Readings } from '../codegen/scalars.ts'
import { findFiles } from '../diff/find-files.ts'
import { printDifferences } from '../../emit/diff.ts'
import { credentialsOfKey, credentialsOfSecret, serviceSource } from './codegen/service-source.ts'
import { databaseSource, folderSource, type SchemaSource } from './codegen/source.ts'
import { watch } from './codegen/watch.ts'
import type { Command, GivenOptions, Terminal } from './command.ts'
import { CommandFailure, exitCodes, misuse } from './command.ts'
import { readLocalSecret } from './local-secret.ts'
import { neededSettingsOf } from './needed-settings.ts'
import { ownerUrl } from './owner-url.ts'

/** What is to be made, and where. */
interface Task {
  readonly source: SchemaSource
  readonly role: string
  readonly out: string
  readonly readings: Readings
  /** Files whose documents are typed as well; null for none. */
  readonly documents: string | null
}

/** Writes a typed client for what a role may do. */
export const codegenCommand: Command = {
  name: 'codegen',
  summary: 'Write a typed client for a role.',
  description:
    'Reads the schema from a folder that `compile` wrote, from a service by introspection (with --key, or with JWT_SECRET\n' +
    'for any role; a comment has to enable introspection), or from a database, to which it writes nothing. Without --from\n' +
    'it is the database of DATABASE_OWNER_URL or DATABASE_URL, or the embedded one while it runs.',
  options: {
    from: {
      value: 'PLACE',
      help: 'Folder of artifacts, http(s) URL of a service, or postgres URL (default: the database).',
    },
    role: { value: 'ROLE', help: 'The role of the client (default: anon).' },
    out: { value: 'DIR', help: 'Folder of the client; it should contain nothing else.' },
    scalars: {
      value: 'LIST',
      help: `JavaScript types of scalars, for example ${possibleReadings.join(',')}; string otherwise.`,
    },
    documents: { value: 'GLOB', help: 'Files with documents to generate types for, such as "src/**/*.{graphql,ts}".' },
    key: { value: 'KEY', help: 'Project key of the service, if JWT_SECRET is not set.' },
    check: { value: null, help: 'Write nothing; fail and show the difference when the folder is out of date.' },
    watch: { value: null, help: 'Keep running, and rewrite the files that a change of the schema changes.' },
  },
  run: async (given, terminal) => {
    if (given['check'] === true && given['watch'] === true) throw misuse('--check looks once; --watch writes')
    const stopRequested = given['watch'] === true ? terminal.stopRequested() : null
    const task = await taskOf(given, terminal)
    if (stopRequested !== null) return watchSource(task, stopRequested, terminal)
    const files = await makeFiles(task, terminal)
    if (given['check'] === true) return checkFolder(task, files, terminal)
    await writeFolder(task, files, terminal)
    return exitCodes.done
  },
}

async function watchSource(task: Task, stopRequested: Promise<unknown>, terminal: Terminal): Promise<number> {
  await watch({
    version: async () => JSON.stringify([await task.source.version(), await timesOf(task.documents)]),
    onChange: async () => writeFolder(task, await makeFiles(task, terminal), terminal),
    onFailure: (reason) => terminal.note(`catalograph: ${reason}`),
    stopRequested,
  })
  return exitCodes.done
}

async function taskOf(given: GivenOptions, terminal: Terminal): Promise<Task> {
  const { out, role = 'anon', scalars } = given
  if (typeof out !== 'string') throw misuse('--out is needed: the folder of the client')
  return {
    source: await sourceOf(given, String(role), terminal),
    role: String(role),
    out: out.replace(/\/+$/, ''),
    readings: typeof scalars === 'string' ? readingsOf(scalars) : {},
    documents: typeof given['documents'] === 'string' ? given['documents'] : null,
  }
}

function readingsOf(text: string): Readings {
  const parsed = parseReadings(text)
  if ('readings' in parsed) return parsed.readings
  throw misuse(`--scalars does not know "${parsed.unknown}"; it takes ${possibleReadings.join(', ')}`)
}

async function sourceOf({ from, key }: GivenOptions, role: string, terminal: Terminal): Promise<SchemaSource> {
  if (typeof from === 'string' && !/^[a-z]+:\/\//.test(from)) return folderSource(from, role)
  const settings = neededSettingsOf(terminal)
  const place = typeof from === 'string' ? from : await ownerUrl(settings)
  if (/^postgres(?:ql)?:/.test(place)) {
    return databaseSource({ url: place, schemas: settings.schemas }, role)
  }
  if (!/^https?:/.test(place)) throw misuse('--from takes a folder, an http(s) URL or a postgres URL')
  if (typeof key === 'string') return serviceSource(place, credentialsOfKey(key, role))
  const secret = settings.jwtSecret ?? (await readLocalSecret(settings.dataFolder))
  if (secret === null) throw new CommandFailure('a service is asked with --key, or with JWT_SECRET set')
  return serviceSource(place, credentialsOfSecret(secret, role))
}

/** When the files with documents were last written. */
async function timesOf(pattern: string | null): Promise<readonly (readonly [path: string, time: number])[]> {
  const paths = pattern === null ? [] : await findFiles(pattern)
  return Promise.all(paths.map(async (path) => [path, (await stat(path)).mtimeMs] as const))
}

async function makeFiles({ source, role, readings, documents }: Task, terminal: Terminal): Promise<Files> {
  const { note } = terminal
  note(`Reading the schema of ${role} from ${source.name}`)
  const schema = await source.load()
  if (isEmpty(schema))
    throw new CommandFailure(`${role} may neither read nor call anything; are its name and its grants right?`)
  note('Making the client')
  const client = clientFiles(schema, readings)
  if (documents === null) return withGeneratedHeader(client, role)
  note('Making the documents')
  return withGeneratedHeader(
    { ...client, ...(await documentFiles(schema, { pattern: documents, folder: process.cwd() })) },
    role,
  )
}

/** Every schema has `node`. */
const isEmpty = (schema: GraphQLSchema): boolean =>
  Object.keys(schema.getQueryType()?.getFields() ?? {}).length <= 1 && schema.getMutationType() == null

async function checkFolder({ out }: Task, files: Files, terminal: Terminal): Promise<number> {
  const changes = await findChanges(out, files)
  if (changes.files.length === 0) return exitCodes.done
  terminal.print(printDifferences(differencesOf(changes)).trimEnd())
  terminal.note(`catalograph: ${out} is out of date; run catalograph codegen without --check`)
  return exitCodes.failed
}

async function writeFolder({ out }: Task, files: Files, terminal: Terminal): Promise<void> {
  const changes = await findChanges(out, files)
  const [foreign] = changes.foreign
  if (foreign !== undefined)
    throw new CommandFailure(`${out}/${foreign} was not made by codegen; choose another folder`)
  await applyChanges(out, changes)
  const count = Object.keys(files).length
  terminal.print(`${out}: ${count} files, ${changes.files.length} of them changed`)
}
