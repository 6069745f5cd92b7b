import type { Cell, ResultRow } from '../../contract/execution.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { longBytes, LongBody } from '../../http/bodies.ts'
import type { Extensions } from './extended.ts'
import { failures, Refusal, type ErrorEntry, type FailureCode } from '../protocol/failures.ts'
import { fieldOf } from '../statements/field-of.ts'
import {
  noRelatedRow,
  noRowToUpdate,
  noSuchRow,
  nullReferred,
  sameKeyTwice,
  skippedRow,
} from '../statements/reasons.ts'
import type { Outline, Piece } from '../statements/statements.ts'
import type { GraphqlResponse } from '../protocol/request-and-answer.ts'

/** The JSON of Postgres becomes part of the answer unchanged. */
export function toResponse(
  { pieces }: Outline,
  rows: readonly ResultRow[],
  extensions: Extensions | null = null,
): GraphqlResponse {
  const parts: Part[] = []
  let before = '{"data":{'
  for (const piece of pieces) {
    const value = pieceValue(piece, rows)
    if (value === '') continue
    parts.push('key' in piece ? `${before}"${piece.key}":` : before, value)
    before = ','
  }
  const more = extensions === null ? '' : `,"extensions":${JSON.stringify(extensions)}`
  parts.push(`${parts.length === 0 ? before : ''}}${more}}`)
  return { outcome: 'ok', body: joined(parts) }
}

type Part = NonNullable<Cell>

/** A member's value, or several members with their keys, possibly none. */
function pieceValue(piece: Piece, rows: readonly ResultRow[]): Part {
  if (piece.kind === 'constant' || piece.kind === 'constants') return piece.json
  const value = rows[piece.statement]?.[piece.column] ?? 'null'
  return piece.kind === 'column' ? value : value.toString().trim().slice(1, -1).trim()
}

function joined(parts: readonly Part[]): GraphqlResponse['body'] {
  let length = 0
  for (const part of parts) length += part.length
  if (length >= longBytes) return new LongBody(parts)
  return parts.some(Buffer.isBuffer) ? Buffer.concat(parts.map(bytesOf)) : parts.join('')
}

const bytesOf = (part: Part): Buffer => (typeof part === 'string' ? Buffer.from(part) : part)

/** Every failure's body (spec/graphql.md, decision 2). */
export function toFailure(error: unknown, outline: Outline | null): GraphqlResponse {
  if (error instanceof Refusal) return failed(error.outcome, error.errors)
  if (error instanceof DatabaseFailure) return databaseFailure(error, outline)
  throw error
}

function failed(outcome: GraphqlResponse['outcome'], errors: readonly ErrorEntry[]): GraphqlResponse {
  const code = errors[0]?.extensions.code
  return { outcome, code, body: `{"data":null,"errors":[${printedErrors(errors).join(',')}]}` }
}

/** In characters: an answer never repeats its request, whose names and values may be in every message. */
const longestMessage = 2_000
const longestErrors = 65_536
const mostLocations = 100

/** As JSON, as far as they fit; at least the first. */
function printedErrors(errors: readonly ErrorEntry[]): readonly string[] {
  const printed: string[] = []
  let length = 0
  for (const { message, locations, ...entry } of errors) {
    const text = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message
    const json = JSON.stringify({
      message: text,
      ...(locations && { locations: locations.slice(0, mostLocations) }),
      ...entry,
    })
    length += json.length
    if (length > longestErrors && printed.length > 0) {
      const {
        extensions: { code },
      } = entry
      return [...printed, JSON.stringify({ message: 'Further errors are left out.', extensions: { code } })]
    }
    printed.push(json)
  }
  return printed
}

const codes: Readonly<Record<DatabaseFailure['kind'], FailureCode>> = {
  stale: 'SCHEMA_CHANGED',
  'role-refused': 'ROLE_REFUSED',
  unavailable: 'DATABASE_UNAVAILABLE',
  conflict: 'DATABASE_CONFLICT',
  locked: 'DATABASE_LOCKED',
  timeout: 'DATABASE_TIMEOUT',
  overloaded: 'OVERLOADED',
  stopping: 'SERVER_STOPPING',
  'too-large': 'ANSWER_TOO_LARGE',
  refused: 'DATABASE_REFUSED',
  deadline: 'DEADLINE_EXCEEDED',
  // The client has disconnected.
  gone: 'DEADLINE_EXCEEDED',
  'across-shards': 'DATABASE_SHARDS_CROSSED',
  'resource-limit': 'DATABASE_RESOURCE_LIMIT',
  connections: 'DATABASE_CONNECTIONS_EXHAUSTED',
}

/** Replaces messages of Postgres that are unhelpful or reveal too much. */
const sentences: Partial<Record<DatabaseFailure['kind'], string>> = {
  stale: 'The database schema kept changing while the request was tried; nothing was done.',
  'role-refused': "The token's role cannot be assumed.",
  'across-shards':
    'The request relates rows that lie on different servers, which this database cannot do; query one tenant, or each collection separately.',
  timeout: 'The request took longer than is allowed and was given up; nothing was kept.',
}

/** Raised by catalograph.refuse: a limit of the request. */
const refusedByUs = 'CG002'

const ofArguments: ReadonlySet<string> = new Set([
  sameKeyTwice,
  noSuchRow,
  nullReferred,
  skippedRow,
  noRelatedRow,
  noRowToUpdate,
])

const codeOfOurs = ({ message }: DatabaseFailure): FailureCode =>
  ofArguments.has(message) ? 'BAD_ARGUMENT' : 'AT_MOST_EXCEEDED'

function databaseFailure(failure: DatabaseFailure, outline: Outline | null): GraphqlResponse {
  const code = failure.sqlstate === refusedByUs ? codeOfOurs(failure) : codes[failure.kind]
  const place = placeOf(failure, outline)
  return failed(failures[code], [
    {
      message: sentences[failure.kind] ?? failure.message,
      ...(place && { path: [place.key] }),
      extensions: {
        code,
        ...(code.startsWith('DATABASE_') && failure.sqlstate !== null && { sqlstate: failure.sqlstate }),
        ...(place?.argument && { argument: place.argument }),
      },
    },
  ])
}

/** Whether Postgres refused a statement that combines several steps of a field. */
export const failedInOneOfSeveral = (error: unknown, outline: Outline): boolean =>
  error instanceof DatabaseFailure && error.kind === 'refused' && placeOf(error, outline)?.several === true

/** In a mutation every statement belongs to one field, so a statement's failure has a path. */
const placeOf = ({ statement }: DatabaseFailure, outline: Outline | null): ReturnType<typeof fieldOf> =>
  outline === null || !outline.writes || statement === null ? null : fieldOf(outline.pieces, statement)
