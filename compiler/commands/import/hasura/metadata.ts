import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { isJsonObject, type JsonObject } from '../../../../runtime/lib/json.ts'
import { messageOf } from '../../../../runtime/lib/text.ts'
import { misuse } from '../../command.ts'
import { readGiven } from '../../given-documents.ts'
import { memberObject, memberObjects, memberText } from '../imported.ts'

export interface HasuraSource {
  readonly name: string
  readonly tables: readonly JsonObject[]
  readonly functions: readonly JsonObject[]
  readonly inflects: boolean
}

export interface HasuraMetadata {
  readonly source: HasuraSource
  /** Names of the other sources. */
  readonly others: readonly string[]
  /** Everything beside the sources, by its name: `actions`, `cron_triggers`, ... */
  readonly rest: JsonObject
}

const option = 'import hasura'

function parseFile(path: string): unknown {
  const text = readGiven(path, option)
  try {
    return path.endsWith('.json') ? JSON.parse(text) : parse(text, { customTags: [includeTag], logLevel: 'error' })
  } catch (error) {
    throw misuse(`${option}: ${path} cannot be parsed: ${messageOf(error).split('\n')[0]}`)
  }
}

/** The command line of Hasura writes includes as texts, older versions as tags. */
const includeTag = { tag: '!include', resolve: (path: string) => `!include ${path}` }

/** A file with the files that it includes in their places; paths are relative to the including file. */
function readIncluding(path: string, above: readonly string[] = []): unknown {
  if (above.includes(path)) throw misuse(`${option}: ${path} includes itself`)
  const resolve = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const [, included] = /^!include\s+(\S.*)$/.exec(value) ?? []
      return included === undefined ? value : readIncluding(join(dirname(path), included), [...above, path])
    }
    if (Array.isArray(value)) return value.map(resolve)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]))
  }
  return resolve(parseFile(path))
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()

/** The folder's files by their names; what a file has under its own name is its content (actions.yaml). */
function readFolder(given: string): JsonObject {
  const inner = join(given, 'metadata')
  const folder = existsSync(inner) && !isFile(inner) ? inner : given
  const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))
  const members = files.map((file) => {
    const name = file.replace(/\.ya?ml$/, '')
    const content = readIncluding(join(folder, file))
    return [name, isJsonObject(content) && name in content ? content[name] : content] as const
  })
  const databases = ['databases/databases.yaml', 'databases/databases.yml'].find((name) => isFile(join(folder, name)))
  if (databases === undefined && !files.some((name) => /^tables\.ya?ml$/.test(name)))
    throw misuse(
      `${option}: ${given} has neither databases/databases.yaml nor tables.yaml, so it is no metadata folder`,
    )
  return {
    ...Object.fromEntries(members),
    ...(databases === undefined ? {} : { sources: readIncluding(join(folder, databases)) }),
  }
}

/** Hasura's export as JSON, plain or within the answer of its metadata API. */
function readExport(path: string): JsonObject {
  const found = readIncluding(path)
  const whole = isJsonObject(found) && isJsonObject(found['metadata']) ? found['metadata'] : found
  if (isJsonObject(whole) && (Array.isArray(whole['sources']) || Array.isArray(whole['tables']))) return whole
  throw misuse(`${option}: ${path} has neither sources nor tables, so it is no metadata of Hasura`)
}

const postgresKinds: ReadonlySet<string> = new Set(['postgres', 'pg', 'citus', 'cockroach', 'alloy'])

const toSource = (value: JsonObject): HasuraSource => ({
  name: memberText(value, 'name') ?? 'default',
  tables: memberObjects(value, 'tables'),
  functions: memberObjects(value, 'functions'),
  inflects: memberText(memberObject(value, 'customization'), 'naming_convention') === 'graphql-default',
})

/**
 * The metadata of a folder (version 2 or 3) or of an exported file.
 * @param named the source to take; null: the only one of Postgres
 * @throws CommandFailure that names the file
 */
export function readMetadata(path: string, named: string | null): HasuraMetadata {
  if (!existsSync(path)) throw misuse(`${option}: ${path} does not exist`)
  const { sources: listed, tables, functions, ...rest } = isFile(path) ? readExport(path) : readFolder(path)
  const sources = Array.isArray(listed)
    ? listed
        .filter(isJsonObject)
        .filter((one) => postgresKinds.has(memberText(one, 'kind') ?? 'postgres'))
        .map(toSource)
    : [toSource({ tables, functions })]
  const [first, second] = named === null ? sources : sources.filter(({ name }) => name === named)
  const names = sources.map(({ name }) => name).join(', ')
  if (first === undefined)
    throw misuse(`${option}: ${path} has no source ${named ?? 'of Postgres'}${names && `: ${names}`}`)
  if (second !== undefined) throw misuse(`${option}: ${path} has several sources, name one with --source: ${names}`)
  const all = Array.isArray(listed) ? listed.map((one) => memberText(one, 'name') ?? '') : []
  return { source: first, others: all.filter((name) => name !== first.name), rest }
}
