import type { Engine } from '../engine/engine.ts'
import { createLru } from '../lib/lru.ts'
import { createDocument, type Document } from './document.ts'
import type { Statements } from './statements/statements.ts'

/** What was found out about documents under one engine, and is kept for when they come again. */
export interface Documents {
  /** @throws Refusal when the text is no valid document for the role */
  readonly find: (role: string, text: string, operationName: string | null) => Document
}

/** Bounds in characters, since anybody may send documents: what is held is some thirty times a document's text. */
const allDocuments = 4_000_000
const longestDocument = 32_768
const allStatements = 32_000_000
/** A short document can stand for a long statement; those are written anew each time. */
const longestStatements = 262_144

export function createDocuments(engine: Engine): Documents {
  const documents = createLru<string, Document>(allDocuments, (_, key) => key.length)
  const statements = createLru<string, Statements>(allStatements, (value, key) => key.length + lengthOf(value))
  return {
    find: (role, text, operationName) => {
      const id = JSON.stringify([role, operationName, text])
      const known = documents.get(id)
      if (known !== undefined) return known
      // No JSON text holds a line break, so no two documents share a key.
      const document = createDocument(engine, role, text, operationName, {
        get: (shape) => statements.get(`${id}\n${shape}`),
        set: (shape, value) => {
          if (lengthOf(value) <= longestStatements) statements.set(`${id}\n${shape}`, value)
        },
      })
      if (id.length <= longestDocument) documents.set(id, document)
      return document
    },
  }
}

const lengthOf = ({ statements, pieces }: Statements): number =>
  statements.reduce((sum, { text }) => sum + text.length, 0) +
  pieces.reduce((sum, piece) => sum + (piece.kind === 'constant' ? piece.json.length : 0), 0)
