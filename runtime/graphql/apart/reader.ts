import type { MessagePort } from 'node:worker_threads'
import type { VariableDefinitionNode } from 'graphql'
import type { EntityModule, Revision } from '../../contract/artifact.ts'
import type { CreateEngine } from '../../engine/engine.ts'
import { createMemories } from '../../lib/memo/memo.ts'
import { bindAll } from '../run/bind.ts'
import { interestsOf } from '../run/interests.ts'
import type { Prepared, Sketch } from '../prepared/document.ts'
import { checkMethod } from '../run/request-state.ts'
import {
  untrustedCacheLimits,
  createDocuments,
  isWorthKeeping,
  type CacheLimits,
  type Documents,
} from '../prepared/documents.ts'
import { withinStack } from '../protocol/failures.ts'
import { readBody } from '../http/request.ts'
import { inSteps, joinConstants } from '../statements/statements.ts'
import { failedReply, replyFor } from './answers.ts'
import type { Message, Question, Reply, RevisionPart } from './messages.ts'
import { pack } from './packing.ts'

/** The thread that reads long documents: it receives a revision, and answers questions about it. */

/** Long documents come once, and the main thread caches the answers. */
const bounds: CacheLimits = { ...untrustedCacheLimits, longestDocument: 4_096 }

/** A revision of which parts are still missing. */
interface ReceivedRevision {
  readonly revision: Omit<Revision, 'manifest' | 'entities'> & {
    readonly manifest: Revision['manifest'] & Record<string, unknown>
    readonly entities: EntityModule[]
  }
  documents: Documents | null
}

/** Answers each question, also with a failure; an error in the parts of a revision ends the thread. */
function createReader(createEngine: CreateEngine): (message: Message) => Reply | null {
  const memories = createMemories()
  let current: ReceivedRevision | null = null
  return (message) => {
    if (message.kind === 'revision') {
      const { id, manifest, functions } = message
      current = { revision: { id, version: null, manifest: { ...manifest }, functions, entities: [] }, documents: null }
      return null
    }
    if (current === null) throw new Error('no revision was sent')
    if (message.kind !== 'question') {
      put(current, message)
      return null
    }
    try {
      if (current.revision.id !== message.revision) throw new Error(`the revision ${message.revision} was not sent`)
      current.documents ??= createDocuments(createEngine(current.revision, memories), bounds)
      return answer(current.documents, message)
    } catch (error) {
      return failedReply(error)
    }
  }
}

function put({ revision }: ReceivedRevision, part: Exclude<RevisionPart, { kind: 'revision' }>): void {
  if (part.kind === 'entities') revision.entities.push(...part.entities)
  else (revision.manifest[part.list] as unknown[]).push(...part.items)
}

function answer(documents: Documents, question: Question): Reply {
  let always = true
  try {
    const variables = question.unread === null ? question.variables : readBody(question.unread).variables
    const document = documents.find(question)
    always = false
    checkMethod(document, question)
    always = document.definitions.length === 0 && !document.writes
    const prepared = withinStack(() => document.prepare(variables))
    const statements = joinConstants(prepared.statements)
    const chosen = { ...prepared, statements: question.byStep ? inSteps(statements) : statements }
    const { writes, pieces } = chosen.statements
    const ready = pack({ writes, pieces, bound: bindAll(chosen), interests: interestsOf(prepared) })
    return { kind: 'ready', ready, lesson: lessonOf(document.sketch, { ...prepared, statements }) }
  } catch (error) {
    return replyFor(error, always)
  }
}

function lessonOf(sketch: Sketch, { shape, statements }: Prepared): Extract<Reply, { kind: 'ready' }>['lesson'] {
  if (shape === null) return null
  const detached = { ...sketch, definitions: sketch.definitions.map(withoutPlace) }
  return isWorthKeeping(detached, statements) ? { sketch: detached, shape, statements } : null
}

/** The location of a node references the whole text. */
const withoutPlace = (definition: VariableDefinitionNode): VariableDefinitionNode =>
  JSON.parse(
    JSON.stringify(definition, (key, value: unknown) => (key === 'loc' ? undefined : value)),
  ) as typeof definition

/** @param port of the thread to the main one */
export function answerQuestions(port: MessagePort | null, createEngine: CreateEngine): void {
  if (port === null) throw new Error('this is the module of a thread')
  const read = createReader(createEngine)
  port.on('message', (message: Message) => {
    const reply = read(message)
    if (reply !== null) port.postMessage(reply)
  })
}
