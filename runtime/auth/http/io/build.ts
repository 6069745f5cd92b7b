import type { Io, Members, Schema } from './types.ts'

/** Pieces that io tables are written with. */

export const text = (description: string): Schema => ({ type: 'string', description })
export const oneOf = (description: string, ...values: readonly string[]): Schema => ({
  type: 'string',
  enum: values,
  description,
})
export const flag = (description: string): Schema => ({ type: 'boolean', description })
export const object = (description: string): Schema => ({ type: 'object', description })
export const list = (items: Schema): Schema => ({ type: 'array', items })

/** An object that has these members and no others; names that end in `?` may be absent. */
export function exactly(members: Members): Schema {
  const names = Object.keys(members)
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name]])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  }
}

/** A schema of answers.ts, by its name. */
export const named = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** Answers: 200 with JSON, 204, or a redirect with one of these statuses. */
export const ok = (schema: Schema): Io['answers'] => ({ 200: { kind: 'json', schema } })
export const noContent: Io['answers'] = { 204: { kind: 'empty' } }
export const redirects = (...statuses: readonly (302 | 303)[]): Io['answers'] =>
  Object.fromEntries(statuses.map((status) => [status, { kind: 'redirect' }]))

export const body = (members: Members): Pick<Io, 'body'> => ({ body: { kind: 'json', members } })
export const form = (members: Members): Pick<Io, 'body'> => ({ body: { kind: 'form', members } })
export const query = (members: Members): Pick<Io, 'query'> => ({ query: members })

/** An endpoint that takes nothing but what is said here. */
export const io = (
  summary: string,
  answers: Io['answers'],
  takes: Partial<Pick<Io, 'query' | 'passesQuery' | 'body'>> = {},
): Io => ({ summary, query: {}, passesQuery: false, body: null, ...takes, answers })
