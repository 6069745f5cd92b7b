import type { Engine } from '../../engine/engine.ts'
import { createLru, createTryingLru, type LruStats } from '../../lib/caches.ts'
import { sha256Hex } from '../../lib/text.ts'
import { createDocument, createKnown, type Document, type Known, type Shapes, type Sketch } from './document.ts'
import { Refusal, tooDeep, withinStack } from '../protocol/failures.ts'
import { introspects } from '../operation/introspects.ts'
import { isHeavy, scan } from '../operation/scan.ts'
import { TakesLong, type Patience } from '../operation/validation.ts'
import { tooRepetitive } from '../operation/operation.ts'
import type { Slot } from '../plan/values.ts'
import type { Statements } from '../statements/statements.ts'

export interface DocumentRequest {
  readonly role: string
  readonly text: string
  readonly operationName: string | null
  /** A short substitute of the text; it is unique per text. */
  readonly mark?: string
}

/** The cached results about documents for one engine. */
export interface Documents {
  /** @throws Refusal if the text is not a valid document for the role */
  readonly find: (asked: DocumentRequest) => Document
  /** The same within some milliseconds. Null: it would take longer and belongs on the reader thread. @throws Refusal */
  readonly findQuickly: (asked: DocumentRequest) => Known | null
  /** Keeps a result of the reader thread. */
  readonly learn: (asked: DocumentRequest, lesson: Lesson) => void
  /** Weights are in characters. */
  readonly stats: () => Readonly<Record<'documents' | 'statements' | 'refusals', LruStats>>
}

export type Lesson =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'read'; readonly sketch: Sketch; readonly shape: string; readonly statements: Statements }

/** In characters; the memory is some five bytes per character of a document, and one per character of a statement. */
export interface CacheLimits {
  /** Creates the cache, which decides whether to keep documents that come once. */
  readonly memory: typeof createLru
  readonly documents: number
  readonly longestDocument: number
  readonly statements: number
  /** A short document can produce a long statement; longer statements are written for each request. */
  readonly longestStatements: number
  readonly refusals: number
}

/** Any client may send documents. */
export const untrustedCacheLimits: CacheLimits = {
  memory: createTryingLru,
  documents: 1_000_000,
  longestDocument: 32_768,
  statements: 8_000_000,
  longestStatements: 262_144,
  refusals: 1_000_000,
}

/** Listed documents are worth keeping, and no other document evicts them. */
export const allowlistCacheLimits: CacheLimits = {
  memory: createLru,
  documents: 4_000_000,
  longestDocument: 1_000_000,
  statements: 32_000_000,
  longestStatements: 4_000_000,
  // They are few, and their owner fixes them.
  refusals: 0,
}

/** The object for a parameter outweighs its text. */
const valueWeight = 200

/** The size of a sketch beside its text. */
const sketchWeight = 1_000

/** A longer text is identified by its hash. */
const longText = 32_768

interface CachedDocument {
  readonly known: Known
  /** Null: it was read on the reader thread. */
  readonly document: Document | null
  readonly shapes: Shapes
  readonly weight: number
}

export function createDocuments(engine: Engine, bounds: CacheLimits): Documents {
  const documents = bounds.memory<string, CachedDocument>(bounds.documents, ({ weight }) => weight)
  const statements = bounds.memory<string, Statements>(bounds.statements, (value, key) => key.length + weightOf(value))
  const refusals = bounds.memory<string, Refusal>(bounds.refusals, (value, key) => key.length + wordsOf(value))
  let made = 0

  /**
   * Every request looks its statements up, so a cached document gives them a short name; a later copy gets a new name.
   */
  const shapesOf = (name: string): Shapes => {
    // No shape contains a line break, so no two documents share a key.
    return {
      get: (shape) => statements.get(`${shape}\n${name}`),
      set: (shape, value) => {
        const key = `${shape}\n${name}`
        if (key.length + weightOf(value) <= bounds.longestStatements) statements.set(key, value)
      },
    }
  }
  const newName = (): string => `${(made += 1)}`
  const refused = (id: string, refusal: Refusal): Refusal => {
    if (id.length + wordsOf(refusal) <= bounds.longestDocument) refusals.set(id, refusal)
    return refusal
  }
  const make = (id: string, { role, text, operationName }: DocumentRequest, pace: Patience): Document => {
    const weight = Math.max(id.length, text.length)
    const isKept = weight <= bounds.longestDocument
    const shapes = shapesOf(isKept ? newName() : id)
    try {
      const document = withinStack(() => createDocument(engine, role, text, operationName, shapes, pace))
      if (isKept) documents.set(id, { known: document, document, shapes, weight })
      return document
    } catch (error) {
      throw error instanceof Refusal ? refused(id, error) : error
    }
  }
  const known = (id: string): CachedDocument | null => {
    const kept = documents.get(id)
    if (kept !== undefined) return kept
    const refusal = refusals.get(id)
    if (refusal !== undefined) throw refusal
    return null
  }
  return {
    find: (asked) => {
      const id = documentId(asked)
      return known(id)?.document ?? make(id, asked, 'patient')
    },
    findQuickly: (asked) => {
      const id = documentId(asked)
      const kept = known(id)
      if (kept !== null) return kept.known
      const seen = scan(asked.text)
      if (seen.deep) throw refused(id, tooDeep())
      if (seen.repetitive) throw refused(id, tooRepetitive())
      return isHeavy(seen) || introspects(asked.text) ? null : ifQuick(() => make(id, asked, 'quick'))
    },
    learn: (asked, lesson) => {
      const id = documentId(asked)
      if (lesson.kind === 'refused') return void refused(id, lesson.refusal)
      const { sketch, shape } = lesson
      const kept = documents.get(id)
      const shapes = kept?.shapes ?? shapesOf(newName())
      shapes.set(shape, lesson.statements)
      if (kept !== undefined) return
      const weight = id.length + sketchWeight + definitionsSize(sketch.definitions)
      if (weight > bounds.longestDocument) return
      documents.set(id, { known: createKnown(engine.view(asked.role), sketch, shapes), document: null, shapes, weight })
    },
    stats: () => ({ documents: documents.stats(), statements: statements.stats(), refusals: refusals.stats() }),
  }
}

/** The lengths mark the end of each part, so no two documents share an id. */
export function documentId({ role, text, operationName, mark }: DocumentRequest): string {
  const short = mark ?? (text.length > longText ? sha256Hex(text) : null)
  return `${role.length} ${operationName?.length ?? ''} ${short === null ? ' ' : '#'}${role}${operationName ?? ''}${short ?? text}`
}

function ifQuick<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof TakesLong) return null
    throw error
  }
}

/** Whether a document of the reader thread is light enough to be sent back, and cached if untrusted documents are. */
export const isWorthKeeping = ({ definitions }: Sketch, statements: Statements): boolean =>
  definitionsSize(definitions) <= untrustedCacheLimits.longestDocument &&
  weightOf(statements) <= untrustedCacheLimits.longestStatements

const definitionsSize = (definitions: Sketch['definitions']): number => JSON.stringify(definitions).length

const weightOf = ({ inSteps, ...whole }: Statements): number =>
  weightOfOne(whole) + (inSteps === undefined ? 0 : weightOfOne(inSteps))

const weightOfOne = ({ statements, pieces }: Pick<Statements, 'statements' | 'pieces'>): number =>
  statements.reduce(
    (sum, { text, values }) => sum + text.length + totalOf(values, ({ slot }) => weightOfSlot(slot)),
    0,
  ) + pieces.reduce((sum, piece) => sum + ('json' in piece ? piece.json.length : 0), 0)

const wordsOf = ({ errors }: Refusal): number =>
  errors.reduce((sum, { message }) => sum + valueWeight + message.length, 0)

const totalOf = <T>(items: readonly T[], weigh: (item: T) => number): number =>
  items.reduce((sum, item) => sum + weigh(item), 0)

/** A list in the document is one value, with one slot per item. */
function weightOfSlot(slot: Slot): number {
  if (slot.kind === 'list') return totalOf(slot.items, weightOfSlot)
  if (slot.kind === 'object') return totalOf(slot.fields, ([, field]) => weightOfSlot(field))
  return valueWeight + (slot.kind === 'constant' && typeof slot.value === 'string' ? slot.value.length : 0)
}
