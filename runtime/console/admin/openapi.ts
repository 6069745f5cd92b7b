import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { id } from '../../auth/io/build.ts'
import { failure, schemas } from '../../auth/io/schemas.ts'
import type { Answer, Body, Io, Members } from '../../auth/protocol/io.ts'
import { routeAt, type Route } from '../../auth/http/route.ts'
import { routes } from '../../auth/http/routes.ts'
import { templateKinds } from '../../auth/mails/kinds.ts'
import { ownerRoutes } from './routes.ts'

/** The OpenAPI 3.1 description of /auth/v1 and /admin/v1, made of the rows that serve them. */

type Json = Readonly<Record<string, unknown>>

/** Registers GET /openapi.json. It depends on the sources only, not on the project. */
export function registerOpenapi(app: FastifyInstance): void {
  const text = JSON.stringify(openapi())
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text))
}

export function openapi(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Catalograph',
      version: '1',
      description: 'Auth of a project, spoken as GoTrue speaks it, and what its owner sets.',
    },
    servers: [{ url: '/' }],
    paths: {
      ...pathsOf('/auth/v1', routes, ({ guard }) => securityOf[guard]),
      ...pathsOf('/admin/v1', ownerRoutes, () => [{ key: [] }]),
    },
    components: {
      schemas,
      responses: { Failure: { description: 'A refusal', content: jsonContent(failure) } },
      securitySchemes: {
        apikey: { type: 'apiKey', in: 'header', name: 'apikey', description: 'A key of the project' },
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token' },
        key: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The service_role key' },
      },
    },
  }
}

type Described = Pick<Route, 'at' | 'io'>

function pathsOf<T extends Described>(prefix: string, rows: readonly T[], secured: (row: T) => readonly Json[]): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of rows) {
    const { method, path } = routeAt(route)
    const operations = (paths[prefix + path.replace(/:(\w+)/g, '{$1}')] ??= {})
    operations[method.toLowerCase()] = { ...openApiOperation(route, path), security: secured(route) }
  }
  return paths
}

function openApiOperation({ io }: Described, path: string): Json {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return {
    summary: io.summary,
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: pathSchemas[name] ?? { type: 'string' } })),
      ...openApiParameters(io),
    ],
    ...(io.body !== undefined && { requestBody: requestBodyOf(io.body) }),
    responses: {
      ...Object.fromEntries(Object.entries(io.answers).map(([status, answer]) => [status, responseOf(answer)])),
      default: { $ref: '#/components/responses/Failure' },
    },
  }
}

const pathSchemas: Readonly<Record<string, TSchema>> = {
  user_id: id,
  factor_id: id,
  identity_id: id,
  kind: { type: 'string', enum: templateKinds },
}

const securityOf: Readonly<Record<Route['guard'], readonly Json[]>> = {
  probe: [],
  open: [],
  key: [{ apikey: [] }],
  user: [{ apikey: [], bearer: [] }],
  admin: [{ apikey: [], key: [] }],
}

function openApiParameters({ query = {}, passesQuery }: Io): readonly Json[] {
  const named = Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema }))
  const others = {
    name: 'others',
    in: 'query',
    description: 'Passed to the provider',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    style: 'form',
    explode: true,
  }
  return passesQuery ? [...named, others] : named
}

function requestBodyOf({ kind, members }: Body): Json {
  const type = kind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  return { content: { [type]: { schema: { type: 'object', properties: nullableMembers(members) } } } }
}

/** A member that is null counts as absent (spec/auth.md 2.3). */
const nullableMembers = (members: Members): Json =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, orNull({ ...schema })]))

const orNull = (schema: Json): Json => ({
  ...schema,
  ...(schema['type'] !== undefined && { type: [schema['type'], 'null'] }),
  ...(Array.isArray(schema['enum']) && { enum: [...schema['enum'], null] }),
})

function responseOf(answer: Answer): Json {
  switch (answer.kind) {
    case 'json':
      return { description: 'Done', content: jsonContent(answer.schema) }
    case 'redirect':
      return {
        description: 'Sends the browser on',
        headers: { Location: { schema: { type: 'string', format: 'uri' } } },
      }
    case 'empty':
      return { description: 'Done' }
  }
}

const jsonContent = (schema: TSchema): Json => ({ 'application/json': { schema } })
