import type { Caller, RunExchange } from '../../../runtime/contract/execution.ts'
import { DatabaseFailure } from '../../../runtime/db/failures/failures.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { bind } from '../../../runtime/graphql/run/bind.ts'
import { createDocument, type Document, type Shapes } from '../../../runtime/graphql/prepared/document.ts'
import { costOf, plansOf } from '../../../runtime/graphql/run/cost-limit.ts'
import { Refusal } from '../../../runtime/graphql/protocol/failures.ts'
import { parseOperation } from '../../../runtime/graphql/operation/operation.ts'
import { countRows } from '../../../runtime/graphql/prepared/row-limit.ts'
import { readVariables } from '../../../runtime/graphql/prepared/document.ts'
import { operationNames, type GivenDocument } from '../diff/document-changes.ts'
import { isRefused, type CertifiedOperation, type Cost, type RefusedDocument } from './certificate.ts'
import { factsOfPlan, type RelationName, type Sizes } from './plan-facts.ts'
import { variablesFor } from './variables.ts'

export interface Measuring {
  readonly engine: Engine
  readonly run: RunExchange
  readonly sizes: Sizes
  /** Tables with so many rows are large. */
  readonly large: number
  /** Receives the relevant tables of unknown size. */
  readonly onUnknown: (tables: readonly string[]) => void
}

/** Every operation of the documents, for each of the roles. Rejects with DatabaseFailure during an outage. */
export async function measure(
  measuring: Measuring,
  roles: readonly string[],
  documents: readonly GivenDocument[],
): Promise<readonly CertifiedOperation[]> {
  const operations: CertifiedOperation[] = []
  for (const { source: document, text, roles: only } of documents) {
    for (const operation of operationNames(text)) {
      for (const role of roles.filter((one) => only?.includes(one) ?? true)) {
        operations.push({ document, operation, role, found: await measureOperation(measuring, role, text, operation) })
      }
    }
  }
  return operations
}

/** Each has few variants of variables. */
const nothingKept: Shapes = { get: () => undefined, set: () => undefined }

async function measureOperation(
  measuring: Measuring,
  role: string,
  text: string,
  operation: string | null,
): Promise<Cost | RefusedDocument> {
  const document = orRefused(() => createDocument(measuring.engine, role, text, operation, nothingKept, 'patient'))
  if ('refused' in document) return document
  const tried: (Cost | RefusedDocument)[] = []
  for (const given of variablesFor(measuring.engine.view(role), document.definitions, text)) {
    tried.push(await measureWith(measuring, role, { text, operation, document }, given))
  }
  return worst(tried)
}

interface MeasuredOperation {
  readonly text: string
  readonly operation: string | null
  readonly document: Document
}

async function measureWith(
  { engine, run, sizes, large, onUnknown }: Measuring,
  role: string,
  { text, operation, document }: MeasuredOperation,
  given: Readonly<Record<string, unknown>>,
): Promise<Cost | RefusedDocument> {
  const ready = orRefused(() => {
    const view = engine.view(role)
    const parsed = parseOperation(view, text, operation)
    const { statements, variables } = document.prepare(given)
    return {
      rows: countRows(view, parsed, readVariables(view, parsed)(given)),
      bound: statements.statements.map((statement) => bind(statement, variables)),
    }
  })
  if ('refused' in ready) return ready
  const caller: Caller = { role, claims: JSON.stringify({ role }) }
  const plans = await plansOf((statements) => run({ caller, version: null, readOnly: true, statements }), ready.bound, {
    verbose: true,
  }).catch(toRefused)
  if ('refused' in plans) return plans
  const facts = plans.map(factsOfPlan)
  const scans: readonly RelationName[] = facts.flatMap((one) => one.scans)
  onUnknown(sizes.unknownOf(scans))
  return {
    rows: Math.min(ready.rows, Number.MAX_VALUE),
    cost: Math.ceil(plans.reduce((sum, plan) => sum + costOf(plan), 0)),
    variables: given,
    indexes: sortedNames(facts.flatMap(({ indexes }) => indexes.map(sizes.nameOf))),
    scans: sortedNames(sizes.largeOf(scans, large)),
  }
}

function orRefused<T extends object>(work: () => T): T | RefusedDocument {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.errors.map(({ message }) => message).join(' ') }
    throw error
  }
}

function toRefused(error: unknown): RefusedDocument {
  if (error instanceof DatabaseFailure && error.kind === 'refused') return { refused: error.message }
  throw error
}

const sortedNames = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()

/** The most expensive one, with the limits and indexes of all of them; a refusal if all are refused. */
function worst(tried: readonly (Cost | RefusedDocument)[]): Cost | RefusedDocument {
  const costs = tried.flatMap((one) => (isRefused(one) ? [] : [one]))
  const [first, ...others] = costs
  if (first === undefined) return tried.at(-1) ?? { refused: 'It holds nothing to ask.' }
  const dearest = others.reduce((most, one) => (one.cost > most.cost ? one : most), first)
  return {
    rows: Math.max(...costs.map(({ rows }) => rows)),
    cost: dearest.cost,
    variables: dearest.variables,
    indexes: sortedNames(costs.flatMap(({ indexes }) => indexes)),
    scans: sortedNames(costs.flatMap(({ scans }) => scans)),
  }
}
