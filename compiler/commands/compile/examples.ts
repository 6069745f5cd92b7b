import { existsSync } from 'node:fs'
import { isJsonObject, type JsonObject, tryParseJson } from '../../../runtime/lib/json.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import type { ExampledDocument } from '../compiled/compile-documents.ts'
import { operationNames, type GivenDocument } from '../advise/diff/document-changes.ts'
import { misuse } from '../command.ts'
import { readGiven } from '../given-documents.ts'

export type NamedExamples = Readonly<Record<string, readonly JsonObject[]>>

/** Reads the file of `--examples`. @throws CommandFailure */
export function readNamedExamples(path: string): NamedExamples {
  const found = tryParseJson(readGiven(path, '--examples'))
  const entries = isJsonObject(found) ? Object.entries(found) : []
  const examples = entries.map(([name, value]) => [name, examplesIn(value)] as const)
  const [wrong] = examples.filter(([, list]) => list === null)
  if (!isJsonObject(found)) throw misuse(`--examples: ${path} holds no object of names of operations`)
  if (wrong !== undefined)
    throw misuse(`--examples: ${path} has under "${wrong[0]}" neither an object of variables nor a list of these`)
  return Object.fromEntries(examples.map(([name, list]) => [name, list ?? []]))
}

/**
 * The documents, each with the examples of the file beside it and the named ones.
 * @throws CommandFailure for a file without examples, and for unknown names
 */
export function withExamples(documents: readonly GivenDocument[], named: NamedExamples): readonly ExampledDocument[] {
  const unused = new Set(Object.keys(named))
  const isNamed = unused.size > 0
  const take = (name: string): readonly JsonObject[] => {
    unused.delete(name)
    return Object.hasOwn(named, name) ? (named[name] ?? []) : []
  }
  const exampled: ExampledDocument[] = []
  for (const document of documents) {
    const { source, text } = document
    const beside = [...examplesBeside(source), ...(isNamed ? take(sha256Hex(text)) : [])]
    // Without names of operations, no document needs parsing.
    const names = isNamed ? operationNames(text).filter((name) => name !== null) : []
    const byName = names.map((name) => [name, take(name)] as const).filter(([, examples]) => examples.length > 0)
    const mark = sha256Hex(JSON.stringify([beside, byName])).slice(0, 16)
    exampled.push({ ...document, mark, examples: { all: beside, named: new Map(byName) } })
  }
  const [unknown] = unused
  if (unknown === undefined) return exampled
  throw misuse(`--examples: "${unknown}" is neither the name of an operation nor the hash of a document`)
}

/** Those in `NAME.variables.json` beside `NAME.graphql`: an object of variables, or a list of these. */
function examplesBeside(source: string): readonly JsonObject[] {
  const path = `${source.replace(/\.[^./\\]*$/, '')}.variables.json`
  const text = existsSync(path) ? readGiven(path, '--documents') : null
  const examples = text === null ? [] : examplesIn(tryParseJson(text))
  if (examples !== null) return examples
  throw misuse(`--documents: ${path} holds neither an object of variables nor a list of these`)
}

/** Null for anything but an object of variables or a list of these. */
function examplesIn(value: unknown): readonly JsonObject[] | null {
  const examples = [value].flat()
  return examples.every(isJsonObject) ? examples : null
}
