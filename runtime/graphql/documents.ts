import type { Engine } from '../engine/engine.ts'
import { createLru, createTryingLru } from '../lib/lru.ts'
import { createDocument, type Document } from './document.ts'
import type { Statements } from './statements/statements.ts'

/** What was found out about documents under one engine, and is kept for when they come again. */
export interface Documents {
  /**
   * `mark` stands for the text where it is shorter: no two texts may have the same one.
   * @throws Refusal when the text is no valid document for the role
   */
  readonly find: (role: string, text: string, operationName: string | null, mark?: string) => Document
}

/** Bounds in characters; what is held is some five bytes for each of a document, and one of its statements. */
export interface Bounds {
  /** How what comes once is told from what comes again. */
  readonly memory: typeof createLru
  readonly documents: number
  readonly longestDocument: number
  readonly statements: number
  /** A short document can stand for a long statement; those are written anew each time. */
  readonly longestStatements: number
}

/** Anybody may send documents. */
export const anybody: Bounds = {
  memory: createTryingLru,
  documents: 1_000_000,
  longestDocument: 32_768,
  statements: 8_000_000,
  longestStatements: 262_144,
}

/** What an owner listed is worth keeping, and nobody else's documents drive it out. */
export const listed: Bounds = {
  memory: createLru,
  documents: 4_000_000,
  longestDocument: 1_000_000,
  statements: 32_000_000,
  longestStatements: 4_000_000,
}

/** What holds a parameter's place weighs more than its mention in the text. */
const valueWeight = 200

interface Kept {
  readonly document: Document
  readonly weight: number
}

export function createDocuments(engine: Engine, bounds: Bounds): Documents {
  const documents = bounds.memory<string, Kept>(bounds.documents, ({ weight }) => weight)
  const statements = bounds.memory<string, Statements>(bounds.statements, (value, key) => key.length + weightOf(value))
  let made = 0
  return {
    find: (role, text, operationName, mark = text) => {
      // The lengths tell where each part ends, so no two documents share an id.
      const id = `${role.length} ${operationName?.length ?? ''} ${role}${operationName ?? ''}${mark}`
      const known = documents.get(id)
      if (known !== undefined) return known.document
      const weight = Math.max(id.length, text.length)
      const isKept = weight <= bounds.longestDocument
      // Every request looks its statements up, so a document that is kept gives them a short name; made anew, another one.
      const name = isKept ? `${(made += 1)}` : id
      // No shape holds a line break, so no two documents share a key.
      const keyOf = (shape: string): string => `${shape}\n${name}`
      const document = createDocument(engine, role, text, operationName, {
        get: (shape) => statements.get(keyOf(shape)),
        set: (shape, value) => {
          const key = keyOf(shape)
          if (key.length + weightOf(value) <= bounds.longestStatements) statements.set(key, value)
        },
      })
      if (isKept) documents.set(id, { document, weight })
      return document
    },
  }
}

const weightOf = ({ statements, pieces }: Statements): number =>
  statements.reduce((sum, { text, values }) => sum + text.length + values.length * valueWeight, 0) +
  pieces.reduce((sum, piece) => sum + (piece.kind === 'constant' ? piece.json.length : 0), 0)
