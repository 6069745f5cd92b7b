import { setImmediate } from 'node:timers/promises'
import { Kind, parse, type GraphQLSchema } from 'graphql'
import type { BoundStatement, RunExchange } from '../../contract/execution.ts'
import type { AllowlistFacts } from '../../contract/guards.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Loaded } from '../run/served.ts'
import type { Document } from '../prepared/document.ts'
import { sampleScalars, sampleVariables, sampling } from '../prepared/sample-variables.ts'
import { isHeavy, scan } from '../operation/scan.ts'
import type { ListTable } from './admission.ts'
import type { Texts } from './listed.ts'
import { documents, hashes } from './list-statements.ts'

/**
 * Prepares listed documents for the roles of their lists before a request sends them: after a change of the schema, and
 * after a change of the list, which is checked once a second while requests come. It works concurrently with requests
 * in small steps; other documents are prepared by their first request.
 */
export type PrepareAhead = (loaded: Loaded) => void

const lookEveryMs = 1_000

/** For one engine, by role: the hashes that the last look at the list returned. */
type Done = Map<string, ReadonlySet<string>>

export function createPrepareAhead(run: RunExchange, texts: Texts, now: () => number): PrepareAhead {
  let running = false
  let lookedAt = Number.NEGATIVE_INFINITY
  let seen: { readonly engine: Engine; readonly done: Done } | null = null
  return (loaded) => {
    const { engine } = loaded
    const { allowlists } = engine.manifest
    if (allowlists === undefined || running) return
    if (seen?.engine !== engine) seen = { engine, done: new Map() }
    else if (now() - lookedAt < lookEveryMs) return
    lookedAt = now()
    running = true
    const { done } = seen
    // The request that sends the document gets the failure.
    prepareLists(run, texts, loaded, allowlists, done)
      .catch(() => undefined)
      .finally(() => (running = false))
  }
}

async function prepareLists(
  run: RunExchange,
  texts: Texts,
  loaded: Loaded,
  allowlists: readonly AllowlistFacts[],
  done: Done,
): Promise<void> {
  // The request that caused it is answered first.
  await setImmediate()
  for (const { table, roles } of allowlists) {
    if (table === null) continue
    for (const role of roles) {
      const ask = async (statement: BoundStatement): Promise<readonly string[]> => {
        const caller = { role, claims: JSON.stringify({ role }) }
        const { version } = loaded.engine
        const rows = await run({ caller, version, readOnly: true, statements: [statement] })
        return JSON.parse(rows[0]?.[0]?.toString() ?? '[]') as readonly string[]
      }
      // A role without privileges on the list affects neither other roles nor requests.
      await prepareRole(ask, texts, loaded, { table, role, done }).catch(() => undefined)
    }
  }
}

/** The number of documents per fetch. */
const batch = 100

async function prepareRole(
  ask: (statement: BoundStatement) => Promise<readonly string[]>,
  texts: Texts,
  loaded: Loaded,
  { table, role, done }: { readonly table: ListTable; readonly role: string; readonly done: Done },
): Promise<void> {
  const before = done.get(role)
  const now = await ask(hashes(role, table))
  done.set(role, new Set(now))
  const fresh = now.filter((hash) => before?.has(hash) !== true)
  for (let from = 0; from < fresh.length; from += batch) {
    const wanted = fresh.slice(from, from + batch)
    const unknown = wanted.filter((hash) => texts.get(hash) === undefined)
    if (unknown.length > 0) for (const text of await ask(documents(role, table, unknown))) texts.add(text)
    for (const hash of wanted) {
      await setImmediate()
      const text = texts.get(hash)
      if (text !== undefined) prepareDocument(loaded, role, text, hash)
    }
  }
}

/** Under every operation name that a request may give, for the predictable sets of variables. */
function prepareDocument({ engine, listed }: Loaded, role: string, text: string, hash: string): void {
  const { schema } = engine.view(role)
  // It would delay other requests; the first request with it waits instead.
  if (isHeavy(scan(text))) return
  for (const operationName of attempt(() => operationNames(text)) ?? []) {
    const document = attempt(() => listed.find({ role, text, operationName, mark: hash }))
    if (document === undefined) continue
    for (const variables of variants(schema, document)) attempt(() => document.prepare(variables))
  }
}

/** A refused document is refused again, with its reason, when a request sends it. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function operationNames(text: string): readonly (string | null)[] {
  const operations = parse(text).definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  const names = operations.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? (definition.name?.value ?? []) : [],
  )
  return operations.length === 1 ? [null, ...names] : names
}

type Given = Readonly<Record<string, unknown>>

const sample = sampling(sampleScalars)

/** No variables; and all variables, if an example value of each type can be made. */
function variants(schema: GraphQLSchema, { definitions }: Document): readonly Given[] {
  const all = sampleVariables(schema, definitions, sample)
  const isWhole = definitions.length > 0 && Object.values(all).every((value) => value !== undefined)
  return isWhole ? [{}, all] : [{}]
}
