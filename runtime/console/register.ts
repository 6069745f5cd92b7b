import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpFailure } from '../http/boundary.ts'
import { once } from '../lib/caches.ts'
import { pagePolicy, readPageFiles, sendPageFile, type PageFile } from './files.ts'
import type { DashboardLink } from './opening.ts'

const path = '/dashboard'
const pageName = 'index.html'

/** The frame for mails: they have their own styles, and nothing in them runs or is fetched. */
const mailName = 'mail.html'

const mailPolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-same-origin',
].join('; ')

/**
 * Registers the owner's page: public static files, which read all data from /admin/v1 with the owner's key.
 * @param opening null: no link opens it signed in
 */
export function registerDashboard(app: FastifyInstance, opening: DashboardLink | null = null): void {
  const files = once(() => readPageFiles('dist/runtime/console/built'))
  // For browsers at the bare address. Relative, because a proxy may serve it under a path.
  app.get('/', (_request, reply) => reply.redirect('dashboard'))
  app.get('/favicon.ico', (_request, reply) => reply.code(204).send())
  app.get(path, async (request, reply) => send(request, reply, (await files()).get(pageName)))
  app.get(`${path}/`, (_request, reply) => reply.redirect('../dashboard'))
  if (opening !== null) app.post(`${path}/opening`, (request, reply) => spend(request, reply, opening))
  app.get<{ Params: { name: string } }>(`${path}/:name`, async (request, reply) =>
    send(request, reply, (await files()).get(request.params.name)),
  )
}

/** Spends the code of a link: the answer is the key. */
function spend({ headers, socket }: FastifyRequest, reply: FastifyReply, opening: DashboardLink): FastifyReply {
  const code = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  const key = opening.spend(code, socket.remoteAddress ?? '')
  if (key === null) throw new HttpFailure('NOT_FOUND')
  return reply.header('cache-control', 'no-store').send({ key })
}

function send(request: FastifyRequest, reply: FastifyReply, file: PageFile | undefined): FastifyReply {
  if (file === undefined) throw new HttpFailure('NOT_FOUND')
  const isMail = request.url.split('?', 1)[0] === `${path}/${mailName}`
  return sendPageFile(request, reply, file, isMail ? mailPolicy : pagePolicy)
}
