import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { printedBy } from '../programs.ts'
import type { GoldenDocument } from './documents.ts'

/** The reader of artifacts that is written in another language: fixtures/reader. */
export interface Reader {
  /** The body of the answer; or why there is none. */
  readonly ask: (document: GoldenDocument) => Promise<{ readonly body: string } | { readonly failed: string }>
  readonly close: () => void
}

const script = new URL('../../../fixtures/reader/reader.py', import.meta.url).pathname

/** Without Python the reader is left out, which is said once. */
const hasPython = printedBy('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))') !== null
if (!hasPython) console.warn('There is no python3 (3.9 or newer): fixtures/reader reads no golden documents.')

/** Null: there is no Python. */
export function openReader(files: Readonly<Record<string, string>>, url: string): Reader | null {
  if (!hasPython) return null
  const folder = mkdtempSync(join(tmpdir(), 'catalograph-reader-'))
  mkdirSync(join(folder, 'documents'))
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  const child = spawn('python3', ['-B', script, folder, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    ask: async ({ role, claims, text, variables }) => {
      child.stdin.write(`${JSON.stringify({ role, claims, text, variables })}\n`)
      const { done, value } = await lines.next()
      if (done === true) throw new Error('the reader of artifacts ended')
      return JSON.parse(value) as Awaited<ReturnType<Reader['ask']>>
    },
    close: () => {
      child.stdin.end()
      rmSync(folder, { recursive: true })
    },
  }
}
