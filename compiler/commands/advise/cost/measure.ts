import {
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isRequiredInputField,
  typeFromAST,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  type VariableDefinitionNode,
} from 'graphql'
import type { EntityFacts } from '../../../../runtime/contract/manifest.ts'
import { parts } from '../../../../runtime/contract/name-parts.ts'
import { partNames } from '../../../additions/table.ts'
import type { RoleView } from '../../../../runtime/engine/schema/schema.ts'
import {
  sampleScalars,
  sampleVariables,
  sampling,
  type Sample,
} from '../../../../runtime/graphql/prepared/sample-variables.ts'
import type { Caller, RunExchange } from '../../../../runtime/contract/execution.ts'
import { DatabaseFailure } from '../../../../runtime/db/failures/failures.ts'
import type { Engine } from '../../../../runtime/engine/engine.ts'
import { bind } from '../../../../runtime/graphql/run/bind.ts'
import {
  createDocument,
  type Document,
  type Shapes,
  readVariables,
} from '../../../../runtime/graphql/prepared/document.ts'
import { costOf, plansOf } from '../../../../runtime/graphql/run/cost-limit.ts'
import { Refusal } from '../../../../runtime/graphql/protocol/failures.ts'
import { parseOperation } from '../../../../runtime/graphql/operation/operation.ts'
import { countRows } from '../../../../runtime/graphql/prepared/row-limit.ts'
import { operationNames, type GivenDocument } from '../diff/document-changes.ts'
import { isRefused, type CertifiedOperation, type Cost, type RefusedDocument } from './certificate.ts'
import { factsOfPlan, type RelationName, type Sizes } from './plan-facts.ts'

type Given = Readonly<Record<string, unknown>>

/** A page is the smaller of the requested and the allowed size. */
const mostInt = 2_147_483_647

/**
 * The variables for the maximum cost of a document: none, and thus its defaults; and all with an example value, with
 * pages of any size and empty filters, once for each value of Booleans, and with a node of each type that it names.
 */
export function variablesFor(
  { schema, visible }: RoleView,
  definitions: readonly VariableDefinitionNode[],
  text: string,
): readonly Given[] {
  const conditions = new Set([...text.matchAll(/\bon\s+(\w+)/g)].map(([, name]) => name))
  const named = conditions.size === 0 ? [] : visible.exposed.filter(({ name }) => conditions.has(name))
  const ids = [undefined, ...named.map(nodeIdOf)]
  const changes = changeParts.filter((part) => new RegExp(`${part}\\b`).test(text))
  const objects = (changes.length > 1 ? changes : [null]).map(emptiest)
  const columns = comparedColumns(schema, definitions)
  const tried = [true, false].flatMap((Boolean) =>
    ids.flatMap((ID) =>
      objects.flatMap((object) =>
        columns.map((enums) => {
          const leaves = { ...sampleScalars, Int: mostInt, Boolean, ID, ...enums }
          const all = sampleVariables(schema, definitions, sampling(leaves, object))
          return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
        }),
      ),
    ),
  )
  return [...new Map([{}, ...tried].map((given) => [JSON.stringify(given), given])).values()]
}

/** Each column that variables may name, by the enum's name, because not all can be compared; once none without such. */
function comparedColumns(schema: GraphQLSchema, definitions: readonly VariableDefinitionNode[]): readonly Given[] {
  const enums = definitions.flatMap(({ type: node }): readonly GraphQLEnumType[] => {
    const type = typeFromAST(schema, node)
    const named = type && getNamedType(type)
    return isEnumType(named) && named.name.endsWith('ComparedColumn') ? [named] : []
  })
  const values = enums.map((type) => type.getValues().map(({ name }) => ({ [type.name]: name })))
  const most = Math.max(1, ...values.map(({ length }) => length))
  return Array.from({ length: most }, (_, turn) => Object.assign({}, ...values.map((all) => all[turn % all.length])))
}

/** Of an arbitrary row (spec/graphql.md 7.1). */
const nodeIdOf = ({ schema, relation, key }: EntityFacts): string =>
  Buffer.from(JSON.stringify([schema, relation, ...(key ?? []).map(() => 1)])).toString('base64')

const changeParts = partNames.changing.map((part) => partNames.suffixes[part])

/**
 * Written inputs are not empty; of all others only required members are given.
 * @param change the only non-empty input of an update, because no column is changed twice; null: all are non-empty
 */
const emptiest =
  (change: string | null) =>
  (type: GraphQLInputObjectType, sample: Sample): Given | undefined => {
    if (type.isOneOf) return firstLeaf(type, sample)
    const written = [parts.insertInput, ...(change === null ? changeParts : [change])]
    const isWritten = written.some((part) => type.name.endsWith(part))
    const fields = Object.values(type.getFields()).filter((field) => isWritten || isRequiredInputField(field))
    const members = fields.map((field) => [field.name, sample(field.type)] as const)
    return Object.fromEntries(members.filter(([, value]) => value !== undefined))
  }

/** The first possible member of an input with exactly one; undefined: none. */
function firstLeaf(type: GraphQLInputObjectType, sample: Sample): Given | undefined {
  const leaf = Object.values(type.getFields()).find((field) => isLeafType(getNullableType(field.type)))
  return leaf && { [leaf.name]: sample(leaf.type) }
}

interface Measuring {
  readonly engine: Engine
  readonly run: RunExchange
  readonly sizes: Sizes
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
