import type { Exchange, ResultRow, RunExchange } from '../../contract/execution.ts'
import type { Engine } from '../../engine/engine.ts'
import { explain, runWithPlans, type Explained } from './explain.ts'
import type { Plan } from '../plan/plan-nodes.ts'
import { unlimitedSchema } from './report-limits.ts'
import { runWithAdvice, schemaReport, type SchemaReport } from './report.ts'
import type { Statements } from '../statements/statements.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'

/** The extensions of an answer, if the owner enabled them and the request asks for them (spec/graphql.md 17). */
export interface Extensions {
  readonly explain?: readonly Explained[]
  readonly schemaReport?: SchemaReport
}

/** Which of them a request gets; null, as for almost all: none. */
export type RequestedExtensions = { readonly [Name in keyof Extensions]-?: boolean }

export function extensionsOf({ manifest }: Engine, { extensions }: GraphqlRequest): RequestedExtensions | null {
  const asked = {
    explain: manifest.explain === true && extensions['explain'] === true,
    schemaReport: manifest.report !== undefined && extensions['schemaReport'] === true,
  }
  return asked.explain || asked.schemaReport ? asked : null
}

/** Runs an exchange, and the statements of the extensions in the same transaction. */
export async function runExtended(
  run: RunExchange,
  engine: Engine,
  asked: RequestedExtensions,
  exchange: Exchange,
  made: () => { readonly statements: Statements; readonly plan: Plan },
): Promise<{ readonly rows: readonly ResultRow[]; readonly extensions: Extensions }> {
  const { role } = exchange.caller
  const { report, allowlists = [] } = engine.manifest
  let found: SchemaReport | undefined
  const reporting: RunExchange = async (inner) => {
    if (!asked.schemaReport || report === undefined) return run(inner)
    const view = engine.view(role)
    const unlimited = unlimitedSchema(engine.manifest, engine.view('anon').visible, report.schemas)
    const { rows, advice } = await runWithAdvice(run, view, report, { allowlists, unlimited }, inner)
    found = schemaReport(view, report, advice)
    return rows
  }
  if (!asked.explain) return { rows: await reporting(exchange), extensions: { ...(found && { schemaReport: found }) } }
  const { rows, plans } = await runWithPlans(reporting, exchange)
  const { statements, plan } = made()
  const explained = explain(engine, role, plan, statements, exchange.statements, plans)
  return { rows, extensions: { explain: explained, ...(found && { schemaReport: found }) } }
}
