import type { Engine } from '../engine/engine.ts'
import { createLru } from '../lib/lru.ts'
import { createDocument, type Document } from './document.ts'
import type { Statements } from './statements/statements.ts'

/** What was found out about documents under one engine, and is kept for when they come again. */
export interface Documents {
  /** @throws Refusal when the text is no valid document for the role */
  readonly find: (role: string, text: string, operationName: string | null) => Document
}

/** Bounds in characters, since anybody may send documents: what is held is some hundred bytes for each of a dense document. */
const allDocuments = 1_000_000
const longestDocument = 32_768
const allStatements = 32_000_000
/** A short document can stand for a long statement; those are written anew each time. */
const longestStatements = 262_144
/** What holds a parameter's place weighs more than its mention in the text. */
const valueWeight = 200

export function createDocuments(engine: Engine): Documents {
  const documents = createLru<string, Document>(allDocuments, (_, key) => key.length)
  const statements = createLru<string, Statements>(allStatements, (value, key) => key.length + weightOf(value))
  return {
    find: (role, text, operationName) => {
      const id = JSON.stringify([role, operationName, text])
      const known = documents.get(id)
      if (known !== undefined) return known
      // No JSON text holds a line break, so no two documents share a key.
      const document = createDocument(engine, role, text, operationName, {
        get: (shape) => statements.get(`${id}\n${shape}`),
        set: (shape, value) => {
          if (id.length + shape.length + weightOf(value) <= longestStatements) statements.set(`${id}\n${shape}`, value)
        },
      })
      if (id.length <= longestDocument) documents.set(id, document)
      return document
    },
  }
}

const weightOf = ({ statements, pieces }: Statements): number =>
  statements.reduce((sum, { text, values }) => sum + text.length + values.length * valueWeight, 0) +
  pieces.reduce((sum, piece) => sum + (piece.kind === 'constant' ? piece.json.length : 0), 0)
