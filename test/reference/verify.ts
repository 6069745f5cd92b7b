import fc from 'fast-check'
import type { Caller, RunExchange } from '../../runtime/contract/execution.ts'
import type { Revision } from '../../runtime/contract/artifact.ts'
import type { RoleView } from '../../runtime/engine/schema/schema.ts'
import type { GraphqlService } from '../../runtime/graphql/serve.ts'
import type { Annotated, AnnotatedRelation, AnnotatedSchema } from '../../compiler/comments/annotated.ts'
import type { Product } from '../../compiler/commands/verify.ts'
import { interpret } from './interpreter/interpret.ts'
import { Unknown } from './interpreter/sample.ts'
import { storeOf } from './interpreter/store.ts'
import type { Json, Question, World } from './interpreter/world.ts'
import { judgeAnswer, type Answer, type Disagreement } from './judge-answer.ts'
import { lookUp } from './look-up.ts'
import { formOf } from './form.ts'
import { questions, usefulRoles } from './questions/document.ts'
import { askAs, type Ask } from './rows.ts'
import { fitted } from './shape.ts'
import { sketchOf, type NotJudged, type Sketched } from './sketch.ts'
import { smallerQuestions } from './smaller-questions.ts'
import { takeSnapshot } from './snapshot.ts'

export interface VerifyOptions {
  readonly product: Pick<Product, 'createService' | 'buildView'>
  readonly annotated: Annotated
  readonly revision: Revision
  readonly run: RunExchange
  readonly role: string
  readonly claims: Readonly<Record<string, Json>>
  readonly seed: number
  /** The largest table whose rows are read. */
  readonly rows: number
  /** The maximum number of differences. */
  readonly most: number
  /** Tables and views that are excluded. */
  readonly skip: readonly AnnotatedRelation[]
  /** In milliseconds of Date.now(): no document is started later. */
  readonly deadline: number
}

/** The result for one schema and role. */
export interface Verdict {
  readonly role: string
  readonly schema: string
  readonly tables: number
  readonly rows: number
  readonly documents: number
  /** The documents that both refuse. */
  readonly refused: number
  /** Drawn but not judged: they reach rows that were not read, or rows that changed in between. */
  readonly skipped: number
  /** In the order of detection, one of each form. */
  readonly differences: readonly Difference[]
  readonly notJudged: readonly NotJudged[]
}

/** The smallest document with a different answer. */
export interface Difference {
  readonly message: string
  readonly document: string
  readonly operationName: string | null
  readonly variables: Question['variables']
}

/** The context for one role on one schema. */
interface Trial {
  readonly service: GraphqlService
  readonly ask: Ask
  readonly caller: Caller
  readonly tables: readonly Sketched[]
  readonly view: RoleView
  readonly sketch: World
  readonly most: number
  world: World
  readonly notJudged: NotJudged[]
}

/**
 * Draws documents over the rows of a schema that a role sees, answers each by the service and by the reference
 * interpreter, and compares, until the deadline or the maximum number of differences. Everything is read in read-only
 * transactions. Rejects with DatabaseFailure.
 */
export async function verifySchema(options: VerifyOptions, schema: AnnotatedSchema): Promise<Verdict> {
  const trial = await beginTrial(options, schema)
  const tally = { documents: 0, refused: 0, skipped: 0 }
  const differences = new Map<string, Difference>()
  for (let round = 0; differences.size < options.most && isGoing(options, trial, round); round += 1) {
    const found = await playRound(options, trial, round, tally)
    const form = found === null ? null : formOf(found)
    if (found !== null && form !== null && !differences.has(form)) differences.set(form, found)
  }
  const { tables } = trial.world
  return {
    role: options.role,
    schema: schema.name,
    tables: tables.length,
    rows: tables.reduce((sum, table) => sum + table.rows.length, 0),
    ...tally,
    differences: [...differences.values()],
    notJudged: unique(trial.notJudged),
  }
}

/** At least one document, however short the time is. */
const isGoing = ({ deadline }: VerifyOptions, { world }: Trial, round: number): boolean =>
  usefulRoles(world).length > 0 && (round === 0 || Date.now() < deadline)

async function beginTrial(options: VerifyOptions, schema: AnnotatedSchema): Promise<Trial> {
  const { product, annotated, revision, run, role, claims, rows, skip } = options
  const caller = { role, claims: JSON.stringify({ role, ...claims }) }
  const ask = askAs(run, caller)
  const { world, tables, notJudged } = sketchOf(annotated, schema, role, await lookUp(ask, schema.name), skip)
  // Lists concern callers, and the interpreter cannot compute costs; here every document is allowed.
  const { allowlists: _, limits, ...rest } = revision.manifest
  const manifest = { ...rest, ...(limits && { limits: { fields: limits.fields, rows: limits.rows } }) }
  const open: Revision = { ...revision, version: null, manifest }
  const trial: Trial = {
    service: product.createService({ database: { run }, source: () => Promise.resolve(open) }),
    ask,
    caller,
    tables,
    view: product.buildView(manifest, role),
    sketch: world,
    most: rows,
    world,
    notJudged: [...notJudged],
  }
  await look(trial)
  return trial
}

/** Reads the rows again. */
async function look(trial: Trial): Promise<void> {
  const snapshot = await takeSnapshot(trial.ask, trial.sketch, trial.tables, trial.most)
  const { world, notJudged } = fitted(snapshot.world, trial.view)
  trial.world = world
  trial.notJudged.push(...snapshot.notJudged, ...notJudged)
}

const documentsPerRound = 40

async function playRound(
  { seed, deadline }: VerifyOptions,
  trial: Trial,
  round: number,
  tally: { documents: number; refused: number; skipped: number },
): Promise<Difference | null> {
  const drawn = fc.sample(questions(trial.world), { seed: seed + round, numRuns: documentsPerRound })
  for (const { question, again } of drawn) {
    for (const asked of [question, again]) {
      const judged = await judge(trial, asked).catch(passUnknown)
      if (judged === null) tally.skipped += 1
      if (judged === null) continue
      tally.documents += 1
      if (judged.refused) tally.refused += 1
      if (judged.disagreement === null) continue
      const confirmed = await confirm(trial, asked)
      // The rows changed in between: further draws use the new ones.
      if (confirmed === null) tally.skipped += 1
      return confirmed === null ? null : shrink(trial, asked, confirmed)
    }
    if (tally.documents > 0 && Date.now() > deadline) return null
  }
  return null
}

/** Null if the answer depends on rows that were not read. */
function passUnknown(error: unknown): null {
  if (error instanceof Unknown) return null
  throw error
}

interface Judged {
  readonly refused: boolean
  readonly disagreement: Disagreement | null
}

async function judge(trial: Trial, question: Question): Promise<Judged> {
  const outcome = interpret(trial.world, storeOf(trial.world), question)
  const { document: query, operationName, variables } = question
  const request = { query, operationName, variables, extensions: {}, queryOnly: true }
  const { body } = await trial.service.serve(request, trial.caller)
  const answer = JSON.parse(body.toString()) as Answer
  const isCancelled = answer.errors?.some(({ extensions }) => extensions.sqlstate === cancelled) ?? false
  return {
    refused: outcome.answer.kind === 'refused',
    disagreement: isCancelled ? null : judgeAnswer(outcome, answer),
  }
}

/** query_canceled: the statement timeout says nothing about the answer (PostgreSQL manual, appendix A). */
const cancelled = '57014'

const attempts = 3

/** A difference counts if the rows were the same before and after the answer; null: concurrent writes never stop. */
async function confirm(trial: Trial, question: Question): Promise<Disagreement | null> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await look(trial)
    const before = JSON.stringify(trial.world.tables)
    const disagreement = (await judge(trial, question).catch(passUnknown))?.disagreement ?? null
    if (disagreement === null) return null
    await look(trial)
    if (JSON.stringify(trial.world.tables) === before) return disagreement
  }
  return null
}

/** The time limit of shrinking, in milliseconds. */
const shrinkingMs = 30_000

async function shrink(trial: Trial, question: Question, found: Disagreement): Promise<Difference> {
  const end = Date.now() + shrinkingMs
  let current = { question, message: found.message }
  for (
    let next: typeof current | null = current;
    next !== null;
    next = await smaller(trial, current.question, found, end)
  ) {
    current = next
  }
  const { document, operationName, variables } = current.question
  return { message: current.message, document, operationName, variables }
}

async function smaller(
  trial: Trial,
  question: Question,
  found: Disagreement,
  end: number,
): Promise<{ readonly question: Question; readonly message: string } | null> {
  for (const candidate of smallerQuestions(question)) {
    if (Date.now() > end) return null
    // The rest may be an invalid document.
    const { disagreement } = await judge(trial, candidate).catch(() => ({ disagreement: null }))
    if (disagreement !== null && disagreement.kind === found.kind && disagreement.code === found.code) {
      return { question: candidate, message: disagreement.message }
    }
  }
  return null
}

const unique = (all: readonly NotJudged[]): readonly NotJudged[] => [
  ...new Map(all.map((one) => [JSON.stringify(one), one])).values(),
]
