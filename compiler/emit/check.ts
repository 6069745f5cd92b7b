import type { CallBuilder, EntityBuilder } from '../../runtime/contract/builder.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import { evaluateModule } from '../../runtime/engine/load.ts'
import type { Diagnostic } from '../report/diagnostic.ts'
import { nameObject } from '../report/object-name.ts'
import { callSample, entitySamples, type Sample } from './samples.ts'
import type { ParseSql } from './sql-parser.ts'

/**
 * Every SQL text that the builders can make parses as exactly one statement. A text that does not is our fault, not the owner's, and is
 * told as an error about that object; nothing is left out because of it.
 */
export async function checkEntity(id: ObjectId, text: string, parse: ParseSql): Promise<readonly Diagnostic[]> {
  return checkSamples(objectName('relation', id), entitySamples(evaluateModule(text, id) as EntityBuilder), parse)
}

export async function checkCalls(text: string, parse: ParseSql): Promise<readonly Diagnostic[]> {
  const calls = Object.entries(evaluateModule(text, 'functions') as Readonly<Record<ObjectId, CallBuilder>>)
  const found = await Promise.all(calls.map(([id, call]) => checkSamples(objectName('function', id), [callSample(call)], parse)))
  return found.flat()
}

async function checkSamples(object: string, samples: readonly Sample[], parse: ParseSql): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = []
  for (const { part, sql } of samples) {
    const problem = await parse(sql)
    if (problem !== null) found.push(refused(object, part, problem))
  }
  return found
}

const objectName = (kind: string, id: ObjectId): string => nameObject(kind, ...(JSON.parse(id) as readonly string[]))

const refused = (object: string, part: string, problem: string): Diagnostic => ({
  code: 'statement-refused',
  severity: 'error',
  object,
  message: `The SQL compiled for ${part} does not parse: ${problem}.`,
  fix: 'This is a fault of the compiler. Please report it with the definition of the object; renaming it may help until then.',
})
