import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'rolldown/utils'

/** Hooks of Node's loader (manual, node:module, customization hooks) for our own files, which Node 20 does not read as TypeScript. */

const isOurs = (url) => url.startsWith('file:') && /\.ts(?:\?|$)/.test(url) && !url.includes('/node_modules/')

/** As Vitest asks for a test file, so that it is loaded again when it runs again. */
const asked = /%3Fvitest=(\d+)$/

/** Messages of Vitest for its main process are answered here: where a file ends soon, they are not received any more. */
export async function resolve(specifier, context, next) {
  const { href } = /^(?:file:|\.)/.test(specifier) ? new URL(specifier, context.parentURL) : { href: specifier }
  if (!isOurs(href.replace(asked, ''))) return next(specifier, context)
  return { url: href.replace(asked, '?vitest=$1'), format: 'module', shortCircuit: true }
}

/** Takes the types out, which is all that these files have beside JavaScript. */
export async function load(url, context, next) {
  if (!isOurs(url)) return next(url, context)
  const path = fileURLToPath(url)
  const { code, map, errors } = transformSync(path, await readFile(path, 'utf8'), { lang: 'ts', sourcemap: true })
  if (errors.length > 0) throw errors[0]
  const inline = Buffer.from(JSON.stringify(map)).toString('base64')
  const source = `${code}\n//# sourceMappingURL=data:application/json;base64,${inline}`
  return { format: 'module', shortCircuit: true, source }
}
