import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Question, World } from '../interpreter/world.ts'
import { compactJson } from '../../support/golden/compact.ts'
import { dataSql, schemaSql } from './ddl.ts'

/** A stored case: for `--replay`, and for people. */
export interface Case {
  /** The disagreement; empty in a fixture that is expected to pass. */
  readonly message: string
  /** Null: the schema is wrong, not an answer. */
  readonly question: Question | null
  /** Variables of an earlier request with the same document, so that it was known. */
  readonly earlier: Question['variables'] | null
  readonly world: World
}

interface KeptCase extends Case {
  readonly lines: {
    readonly schema: readonly string[]
    readonly data: readonly string[]
    readonly document: readonly string[]
  }
}

/** Writes a case with its SQL and its document in lines. */
export async function keepCase(file: string, kept: Case): Promise<void> {
  const lines = {
    schema: split(schemaSql(kept.world)),
    data: split(dataSql(kept.world)),
    document: split(kept.question?.document ?? ''),
  }
  const { message, question, earlier, world } = kept
  const readable: KeptCase = { message, lines, question, earlier, world }
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, compactJson(readable))
}

const split = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

export const readCase = async (file: string): Promise<Case> => JSON.parse(await readFile(file, 'utf8')) as KeptCase

export const writes = (question: Question): boolean => /^\s*mutation\b/.test(question.document)
