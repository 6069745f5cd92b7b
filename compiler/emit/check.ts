import type { CallBuilder, EntityBuilder } from '../../runtime/contract/builder.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import { evaluateModule } from '../../runtime/engine/load.ts'
import { messageOf } from '../../runtime/lib/message-of.ts'
import type { Diagnostic } from '../report/diagnostic.ts'
import { diagnose } from '../report/diagnostics.ts'
import { nameObject } from '../report/object-name.ts'
import { callSample, entitySamples, type Sample } from './samples.ts'
import { isUnchecked, type ParseSql } from './sql-parser.ts'

/** What came of checking the modules of some objects. */
export interface Checked {
  /** Those whose SQL Postgres would not read. */
  readonly refused: readonly ObjectId[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Every SQL text that the builders can make parses as exactly one statement. A text that does not is our fault, not the
 * owner's: it is told as an error about that object, which is then left out (see leave-out.ts). A text that cannot be
 * checked is told and kept.
 */
export async function checkEntity(id: ObjectId, text: string, parse: ParseSql): Promise<Checked> {
  const object = objectName('relation', id)
  try {
    return await checkSamples(id, object, entitySamples(evaluateModule(text, id) as EntityBuilder), parse)
  } catch (error) {
    const facts = { part: 'its builder', problem: messageOf(error) }
    return { refused: [id], diagnostics: [diagnose('statement-refused', object, facts)] }
  }
}

export async function checkCalls(text: string, parse: ParseSql): Promise<Checked> {
  const calls = Object.entries(evaluateModule(text, 'functions') as Readonly<Record<ObjectId, CallBuilder>>)
  const all: Checked[] = []
  for (const [id, call] of calls) {
    all.push(await checkSamples(id, objectName('function', id), [callSample(call)], parse))
  }
  return { refused: all.flatMap((one) => one.refused), diagnostics: all.flatMap((one) => one.diagnostics) }
}

async function checkSamples(
  id: ObjectId,
  object: string,
  samples: readonly Sample[],
  parse: ParseSql,
): Promise<Checked> {
  const diagnostics: Diagnostic[] = []
  for (const { part, sql } of samples) {
    const problem = await parse(sql)
    if (problem === null) continue
    const code = isUnchecked(problem) ? 'statement-unchecked' : 'statement-refused'
    diagnostics.push(diagnose(code, object, { part, problem }))
  }
  return { refused: diagnostics.some(({ severity }) => severity === 'error') ? [id] : [], diagnostics }
}

const objectName = (kind: string, id: ObjectId): string => nameObject(kind, ...(JSON.parse(id) as readonly string[]))
