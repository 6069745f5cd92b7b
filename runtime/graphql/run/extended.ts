import type { Exchange, ResultRow, RunExchange } from '../../contract/execution.ts'
import type { Manifest } from '../../contract/manifest.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Plan } from '../plan/plan-nodes.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'
import type { Statements } from '../statements/statements.ts'

/** A member of an answer's extensions, for requests that ask for it (spec/graphql.md 17). */
export interface Extension {
  readonly name: string
  readonly fact: keyof Manifest
  /** Runs an exchange, and the statements of the extension in the same transaction. */
  readonly run: (run: RunExchange, exchange: Exchange, request: Extended) => Promise<Found>
}

/** A request of which statements run. */
export interface Extended {
  readonly engine: Engine
  /** The statements, and the plan that they are written from. */
  readonly made: () => { readonly statements: Statements; readonly plan: Plan }
}

interface Found {
  readonly rows: readonly ResultRow[]
  /** The member of the answer; undefined: none. */
  readonly answer: unknown
}

/** The extensions of an answer, by name. */
export type Extensions = Readonly<Record<string, unknown>>

export const askedExtensions = (served: readonly Extension[], { extensions }: GraphqlRequest): readonly Extension[] =>
  served.filter(({ name }) => extensions[name] === true)

/** Runs an exchange with these extensions; a later one runs within an earlier one. */
export async function runExtended(
  [extension, ...inner]: readonly Extension[],
  run: RunExchange,
  exchange: Exchange,
  request: Extended,
): Promise<{ readonly rows: readonly ResultRow[]; readonly extensions: Extensions }> {
  if (extension === undefined) return { rows: await run(exchange), extensions: {} }
  let found: Extensions = {}
  const runInner: RunExchange = async (one) => {
    const { rows, extensions } = await runExtended(inner, run, one, request)
    found = extensions
    return rows
  }
  const { rows, answer } = await extension.run(runInner, exchange, request)
  return { rows, extensions: { [extension.name]: answer, ...found } }
}
