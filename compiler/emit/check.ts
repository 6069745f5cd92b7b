import type { CallBuilder, EntityBuilder } from '../../runtime/contract/builder.ts'
import type { Diagnostic, ObjectId } from '../../runtime/contract/manifest.ts'
import { evaluateModule } from '../../runtime/engine/load.ts'
import { createLru, type Lru } from '../../runtime/lib/caches.ts'
import { messageOf } from '../../runtime/lib/text.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { nameObject } from '../catalog/diagnostics/object-name.ts'
import { typeModule, type Types } from './builders.ts'
import { callSample, entitySamples, typeSample, type SqlSample, type TypeBuilder } from './samples.ts'
import { isUnparsed, type ParseSql } from './sql-parser.ts'

/** The result of checking the modules of some objects. */
export interface Checked {
  /** Those whose SQL Postgres would refuse. */
  readonly refused: readonly ObjectId[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Every SQL text that the builders can make must parse as exactly one statement. A text that does not is a fault of the
 * compiler, not of the owner: it is an error about that object, which is then left out (see leave-out.ts). A text that
 * cannot be checked is reported and kept.
 */
export async function checkEntity(id: ObjectId, text: string, types: Types, check: Check): Promise<Checked> {
  const object = objectName('relation', id)
  const news = newLines(text, check)
  try {
    const samples = news.length === 0 ? [] : entitySamples(evaluateModule(text, id) as EntityBuilder)
    const problems = [...(await problemsOf(samples, check.parse)), ...(await typeProblems(types, check))]
    if (problems.length === 0) for (const line of news) check.lines.set(line, true)
    return problemDiagnostics(id, object, problems)
  } catch (error) {
    const facts = { part: 'its builder', problem: messageOf(error) }
    return { refused: [id], diagnostics: [diagnose('statement-refused', object, facts)] }
  }
}

/** The dependencies of a check: the parser, and earlier positive results. */
export interface Check {
  readonly parse: ParseSql
  /** By text. */
  readonly types: Lru<string, { readonly problem: string | null }>
  /** Of modules, with normalized names. */
  readonly lines: Lru<string, true>
}

const rememberedTypes = 2_000
const rememberedCharacters = 2_000_000

export const createCheck = (parse: ParseSql): Check => ({
  parse,
  types: createLru(rememberedTypes),
  lines: createLru(rememberedCharacters, (_, line) => line.length),
})

/** The content of a quoted word is irrelevant in every language. */
const quotedWord = /(['"])[A-Za-z_][A-Za-z0-9_]*\1/g
const typeLine = /^const /

/**
 * Lines of a module that no valid module contained. Each line is a complete member (js-text.ts), or the text of a type,
 * which is checked separately; so a module of valid lines is valid. Thousands of tables have a few dozen distinct
 * lines, and evaluating a module costs as much as writing it.
 */
const newLines = (text: string, { lines }: Check): readonly string[] =>
  text
    .replace(quotedWord, '$1$1')
    .split('\n')
    .filter((line) => !typeLine.test(line) && lines.get(line) === undefined)

interface Problem {
  readonly part: string
  readonly problem: string
}

/** A type's functions depend on their text only, so each text is checked once. */
async function typeProblems({ list }: Types, { parse, types }: Check): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const { text, column } of list) {
    const known = types.get(text) ?? {
      problem: await parse(typeSample(evaluateModule(typeModule(text), 'type') as TypeBuilder)),
    }
    types.set(text, known)
    if (known.problem !== null) problems.push({ part: `the type of column ${column.column}`, problem: known.problem })
  }
  return problems
}

export async function checkCalls(parse: ParseSql, text: string): Promise<Checked> {
  const calls = Object.entries(evaluateModule(text, 'functions') as Readonly<Record<ObjectId, CallBuilder>>)
  const all: Checked[] = []
  for (const [id, call] of calls) {
    all.push(problemDiagnostics(id, objectName('function', id), await problemsOf([callSample(call)], parse)))
  }
  return { refused: all.flatMap((one) => one.refused), diagnostics: all.flatMap((one) => one.diagnostics) }
}

async function problemsOf(samples: readonly SqlSample[], parse: ParseSql): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const { part, sql } of samples) {
    const problem = await parse(sql)
    if (problem !== null) problems.push({ part, problem })
  }
  return problems
}

function problemDiagnostics(id: ObjectId, object: string, problems: readonly Problem[]): Checked {
  const diagnostics = problems.map((facts) =>
    diagnose(isUnparsed(facts.problem) ? 'statement-unchecked' : 'statement-refused', object, facts),
  )
  return { refused: diagnostics.some(({ severity }) => severity === 'error') ? [id] : [], diagnostics }
}

const objectName = (kind: string, id: ObjectId): string => nameObject(kind, ...(JSON.parse(id) as readonly string[]))
