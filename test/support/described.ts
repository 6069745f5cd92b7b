import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { openapi } from '../../runtime/console/admin/openapi.ts'
import { ownerRoutes } from '../../runtime/console/admin/routes.ts'
import { routeAt } from '../../runtime/auth/http/route.ts'
import { routes } from '../../runtime/auth/http/routes.ts'

/** Whether answers are what /openapi.json says they are. */

const document = openapi()
const ajv = new Ajv2020({ strict: false, allErrors: false })
formats.default(ajv)
ajv.addSchema(document, 'openapi')

const compiled = new Map<string, ValidateFunction>()

function validate(pointer: string, body: unknown): string | null {
  const schema = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` })
  compiled.set(pointer, schema)
  return schema(body) ? null : ajv.errorsText(schema.errors)
}

const escaped = (text: string): string => encodeURI(text.replaceAll('~', '~0').replaceAll('/', '~1'))

const rows = { '/auth/v1': routes, '/admin/v1': ownerRoutes } as const
export type DescribedPrefix = keyof typeof rows

/** Throws for an answer below a prefix whose body is not what is described for its status. */
export function checkDescribed(
  prefix: DescribedPrefix,
  method: string,
  path: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  if (method === 'OPTIONS' || method === 'HEAD') return
  const bare = path.split('?', 1)[0] ?? ''
  const route = rows[prefix].find((row) => routeAt(row).method === method && matches(routeAt(row).path, bare))
  const answer = route?.io.answers[status]
  if (answer !== undefined && answer.kind !== 'json') return
  const place =
    answer === undefined || route === undefined
      ? '/components/responses/Failure'
      : `/paths/${escaped(prefix + routeAt(route).path.replace(/:(\w+)/g, '{$1}'))}/${method.toLowerCase()}/responses/${status}`
  const fault = validate(`${place}/content/application~1json/schema`, body)
  if (fault !== null)
    throw new Error(`${method} ${bare} ${status} is not as described: ${fault}\n${JSON.stringify(body)}`)
}

const matches = (pattern: string, path: string): boolean =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`).test(path)
