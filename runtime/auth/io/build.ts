import { Type, type TProperties, type TSchema } from 'typebox'
import type { Io, Members, Parameters } from '../protocol/io.ts'
import type { JsonObject } from '../../lib/json.ts'

export const text = (description: string) => Type.String({ description })
export const oneOf = (description: string, ...values: readonly string[]) => Type.String({ enum: values, description })
/** The same for an answer, whose type has only these values: input may be refused in an endpoint's own words. */
export const either = <V extends string>(description: string, ...values: readonly V[]) =>
  Type.Unsafe<V>({ type: 'string', enum: values, description })
export const flag = (description: string) => Type.Boolean({ description })
export const object = (description: string) => Type.Unsafe<JsonObject>({ type: 'object', description })
/** A member that is read, or refused, under every JSON type. */
export const anything = (description: string) => Type.Unknown({ description })
export const time = Type.String({ format: 'date-time' })
export const id = Type.String({ format: 'uuid' })

export const exactly = <P extends TProperties>(members: P) => Type.Object(members, { additionalProperties: false })

export const ref = (name: string): TSchema => Type.Ref(`#/components/schemas/${name}`)

export const ok = <S extends TSchema>(schema: S) => ({ 200: { kind: 'json', schema } }) as const
export const noContent: Io['answers'] = { 204: { kind: 'empty' } }
export const redirects = (...statuses: readonly (302 | 303)[]): Io['answers'] =>
  Object.fromEntries(statuses.map((status) => [status, { kind: 'redirect' }]))

export const body = <M extends Members>(members: M) => ({ body: { kind: 'json', members } }) as const
export const form = <M extends Members>(members: M) => ({ body: { kind: 'form', members } }) as const
export const patch = <M extends Members>(members: M) => ({ body: { kind: 'patch', members } }) as const
export const query = <P extends Parameters>(parameters: P) => ({ query: parameters }) as const

/** The io of an endpoint; undeclared parts are empty. */
export const io = <A extends Io['answers'], T extends Omit<Io, 'summary' | 'answers'> = object>(
  summary: string,
  answers: A,
  takes?: T,
) => ({ summary, answers, ...takes }) as { readonly summary: string; readonly answers: A } & T
