import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import vm from 'node:vm'

/**
 * The built command line is parts in the form of CommonJS, beside some of which stands the code that V8 made of them before
 * (compiler/warm.mjs): making it anew is a third of the CPU that a server takes until it answers.
 */

/** A part that was loaded. */
export interface LoadedPart {
  readonly path: string
  readonly script: vm.Script
}

export type LoadPart = (name: string) => unknown

/**
 * Makes what loads parts of a folder, each once. It returns what the part exports.
 * @param hear is told of each
 */
export function createLoadPart(folder: string, hear: (part: LoadedPart) => void = () => undefined): LoadPart {
  const packages = createRequire(join(folder, 'parts'))
  const loaded = new Map<string, { readonly exports: unknown }>()
  const load: LoadPart = (name) => {
    const before = loaded.get(name)
    if (before !== undefined) return before.exports
    const path = join(folder, name)
    const script = scriptOf(path)
    hear({ path, script })
    const module = { exports: {} }
    loaded.set(name, module)
    const require = (id: string): unknown => (id.startsWith('./') ? load(id.slice(2)) : packages(id))
    script.runInThisContext()(module.exports, require, module, path, folder, importModule)
    return module.exports
  }
  return load
}

/** `import` of code that was kept has no referrer, so the parts have it under this name (compiler/bundle.mjs). */
const importModule = (id: string): Promise<unknown> => import(id)

function scriptOf(path: string): vm.Script {
  const text = textOf(path)
  const cachedData = keptCode(path, text)
  return new vm.Script(text, { filename: path, ...(cachedData !== null && { cachedData }) })
}

/** On its first line what CommonJS puts around a module. */
const textOf = (path: string): string =>
  `(function (exports, require, module, __filename, __dirname, importModule) { ${readFileSync(path, 'utf8')}\n})`

const codeFile = (path: string): string => `${path}.code`

/** What is written beside a part, of its script after it ran: only functions that were called have code. */
export function codeToKeep({ path, script }: LoadedPart): { readonly file: string; readonly content: Buffer } {
  const code = script.createCachedData()
  return { file: codeFile(path), content: Buffer.concat([sealOf(textOf(path), code), code]) }
}

const sealBytes = 32

/** Of this text, Node and processor. V8 looks at its version and its flags by itself, but of a text at nothing but the length. */
const sealOf = (text: string, code: Buffer): Buffer =>
  createHash('sha256').update(`${process.version} ${process.arch} ${text.length}\n`).update(text).update(code).digest()

/** Null: there is none that fits. */
function keptCode(path: string, text: string): Buffer | null {
  const content = read(codeFile(path))
  if (content === null) return null
  const code = content.subarray(sealBytes)
  return sealOf(text, code).equals(content.subarray(0, sealBytes)) ? code : null
}

function read(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}
