import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The file of a built module for a thread or process. It is found from a built module beside it, from the bundle of the
 * command line, and from source, as in tests.
 * @param from `import.meta.url` of a module in the same folder
 * @param path of the built module, below dist
 */
export function builtModule(from: string, path: string): string {
  const places = [`./${basename(path)}`, `../${path}`, `${'../'.repeat(path.split('/').length - 1)}dist/${path}`]
  const paths = places.map((place) => fileURLToPath(new URL(place, from)))
  return paths.find((one) => existsSync(one)) ?? ''
}
