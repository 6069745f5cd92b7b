import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { type GraphQLSchema, buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql'
import { currentFile } from '../../../runtime/contract/artifact.ts'
import type { Manifest } from '../../../runtime/contract/manifest.ts'
import { withSession } from '../../../runtime/db/connect/session.ts'
import { loadRevision } from '../../../runtime/engine/load.ts'
import { buildView } from '../../additions/engine.ts'
import { writtenExpression } from '../../catalog/written.ts'
import { createCompiler } from '../../compile.ts'
import { seenTriggers } from '../../following/serving/live-triggers.ts'
import { printDiagnostics } from '../../catalog/diagnostics/diagnostics.ts'
import { CommandFailure } from '../command.ts'
import { demandRole } from '../demand-role.ts'
import { addedKey, ownerRole } from '../../../runtime/identity/project-keys.ts'
import { isJsonObject, tryParseJson } from '../../../runtime/lib/json.ts'
import { messageOf } from '../../../runtime/lib/text.ts'
import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'

export interface SchemaSource {
  /** For notes; contains no secret. */
  readonly name: string
  /** A text that changes with the schema; cheap to request. */
  readonly version: () => Promise<string>
  /** Rejects with a sentence if there is no such schema. */
  readonly load: () => Promise<GraphQLSchema>
}

/** The output of `compile`. */
export const folderSource = (folder: string, role: string): SchemaSource => ({
  name: folder,
  version: () => readFile(join(folder, currentFile), 'utf8'),
  load: async () => schemaOf((await loadRevision(folder)).manifest, role),
})

interface DatabaseSourceOptions {
  readonly url: string
  readonly schemas: readonly string[]
}

/** A database, which is compiled without changes to it. */
export const databaseSource = ({ url, schemas }: DatabaseSourceOptions, role: string): SchemaSource => ({
  name: 'the database',
  version: () =>
    withSession({ url }, async (query) => {
      const { rows } = await query<{ version: string }>(`select ${writtenExpression} as version`)
      return rows[0]?.version ?? ''
    }),
  load: () =>
    withSession({ url }, async (query) => {
      await demandRole(query, role)
      const compiled = await createCompiler({ query, schemas, version: null, triggers: seenTriggers }).compile()
      const errors = compiled.diagnostics.filter(({ severity }) => severity === 'error')
      if (errors.length > 0) throw new CommandFailure(printDiagnostics(errors).trimEnd())
      return schemaOf(compiled.revision.manifest, role)
    }),
})

const schemaOf = (manifest: Manifest, role: string): GraphQLSchema => buildView(manifest, role).complete()

const answerWithinMs = 60_000

/** A new key, since those of the project may be revoked. */
export const keyOfSecret = (secret: string): string => addedKey(ownerRole, randomUUID(), secret)

function roleOf(key: string): string | null {
  const claims = tryParseJson(Buffer.from(key.split('.')[1] ?? '', 'base64url').toString('utf8'))
  return isJsonObject(claims) && typeof claims['role'] === 'string' ? claims['role'] : null
}

/**
 * A running service. To the key of service_role it describes each role; to another key its own role, by introspection,
 * which shows the schemas that opted in to it. Throws CommandFailure if the key shows no schema of the role.
 */
export function serviceSource(address: string, key: string, role: string): SchemaSource {
  const base = address.replace(/\/+$/, '')
  const own = roleOf(key)
  if (own === null) throw new CommandFailure('--key is not a project key')
  if (own !== role && own !== ownerRole)
    throw new CommandFailure(
      `--key is the key of ${own}; for ${role} pass the key of ${ownerRole}, or set JWT_SECRET to that of the project`,
    )
  const ask = (query: string): Promise<unknown> => graphql(base, key, query)
  return {
    name: base,
    version: async () => {
      // The service checks its schema on each request.
      await ask('{ __typename }')
      const { revision } = (await jsonAnswer(await fetchOrFail(`${base}/health`, {}))) as { revision?: unknown }
      return String(revision)
    },
    load: async () => {
      const introspection = getIntrospectionQuery({ inputValueDeprecation: false })
      return buildClientSchema(
        (await (own === ownerRole ? described(base, key, role) : ask(introspection))) as IntrospectionQuery,
      )
    },
  }
}

async function described(base: string, key: string, role: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetchOrFail(`${base}/admin/v1/schema?role=${encodeURIComponent(role)}`, { headers })
  const answer = (await jsonAnswer(response)) as { readonly message?: string }
  if (response.ok) return answer
  throw new CommandFailure(`${base} answers: ${answer.message ?? `status ${response.status}`}`)
}

async function graphql(base: string, key: string, query: string): Promise<unknown> {
  const response = await fetchOrFail(`${base}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const { data, errors, message } = (await jsonAnswer(response)) as GraphqlAnswer
  if (data != null && errors === undefined) return data
  const said = errors?.[0]?.message ?? message ?? `status ${response.status}`
  const hint = /introspection/i.test(said)
    ? `; pass the key of ${ownerRole}, or switch introspection on for the schema`
    : ''
  throw new CommandFailure(`${base} answers: ${said}${hint}`)
}

interface GraphqlAnswer {
  readonly data?: unknown
  readonly errors?: readonly { readonly message?: string }[]
  readonly message?: string
}

async function fetchOrFail(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(answerWithinMs) })
  } catch (error) {
    const cause = (error as Error).cause
    throw new CommandFailure(`${url} does not answer: ${messageOf(cause ?? error)}`)
  }
}

async function jsonAnswer(response: Response): Promise<object> {
  const answer: unknown = await response.json().catch(() => null)
  if (typeof answer === 'object' && answer !== null) return answer
  throw new CommandFailure(`${response.url} answers something else than a Catalograph service does`)
}

/** The TypeScript types of a scalar: TABLE. */
interface ScalarFacts {
  readonly output: string
  readonly input: string
  /** The alternative to text for its values, which is a type of TypeScript as well. */
  readonly readAs?: ReadAs
}

type ReadAs = 'bigint' | 'Date'

const text: ScalarFacts = { output: 'string', input: 'string' }

export const scalarFacts: Readonly<Record<ScalarName, ScalarFacts>> = {
  ID: text,
  Int: { output: 'number', input: 'number' },
  Float: { output: 'number', input: 'number' },
  String: text,
  Boolean: { output: 'boolean', input: 'boolean' },
  Date: text,
  Time: text,
  Datetime: { output: 'string', input: 'string | Date', readAs: 'Date' },
  BigInt: { output: 'string', input: 'string | bigint', readAs: 'bigint' },
  UUID: text,
  JSON: text,
  Cursor: text,
  BigFloat: text,
  GeoJSON: { output: 'sdk.Geometry', input: 'sdk.Geometry' },
  Opaque: { output: 'unknown', input: 'string | number | boolean' },
}

/**
 * Figures of an aggregate with one of these scalars are JSON numbers (spec/graphql.md 6), except for a column with text
 * values, such as money.
 */
export const numericScalars: ReadonlySet<string> = new Set<ScalarName>(['Int', 'BigInt', 'Float', 'BigFloat'])

/** Scalars that are read in another form than they are sent. */
export type Readings = Readonly<Partial<Record<ScalarName, ReadAs>>>

/** The possible values, as `BigInt=bigint`. */
export const possibleReadings: readonly string[] = Object.entries(scalarFacts).flatMap(([name, { readAs }]) =>
  readAs === undefined ? [] : [`${name}=${readAs}`],
)

/** `BigInt=bigint,Datetime=Date` -> readings; an invalid part as the problem. */
export function parseReadings(text: string): { readonly readings: Readings } | { readonly unknown: string } {
  const given = text.split(',').map((part) => part.trim())
  const unknown = given.find((part) => !possibleReadings.includes(part))
  return unknown === undefined
    ? { readings: Object.fromEntries(given.map((part) => part.split('='))) as Readings }
    : { unknown }
}
