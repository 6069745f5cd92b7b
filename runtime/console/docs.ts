import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { HttpFailure } from '../http/boundary.ts'
import { once } from '../lib/caches.ts'
import { packageFolder } from '../lib/package.ts'
import { pagePolicy, readPageFiles, sendPageFile } from './files.ts'

/** The output of `npm run docs`, in the package. */
const built = 'dist/docs'

export const areDocsBuilt = (): boolean => existsSync(join(packageFolder(), built))

/** Registers the pages of docs/ as public static files, and their list for programs (llmstxt.org). */
export function registerDocs(app: FastifyInstance, folder = built): void {
  const files = once(() => readPageFiles(folder))
  // Relative, because a proxy may serve it under a path.
  app.get('/docs', (_request, reply) => reply.redirect('docs/'))
  app.get('/llms.txt', (_request, reply) => reply.redirect('docs/llms.txt'))
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const pages = await files()
    if (pages.size === 0)
      throw new HttpFailure('NOT_FOUND', 'The pages are not built here: run npm run docs in a clone.')
    const page = pages.get(request.params['*'] || 'index.html')
    if (page === undefined) throw new HttpFailure('NOT_FOUND')
    return sendPageFile(request, reply, page, pagePolicy)
  })
}
