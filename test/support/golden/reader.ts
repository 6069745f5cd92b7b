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

/** One process for all cases: to start it takes longer than to read the documents of one. */
export interface Readers {
  readonly open: (files: Readonly<Record<string, string>>, url: string) => Reader
  readonly stop: () => void
}

const modules = new URL('../../../fixtures/reader', import.meta.url).pathname

/** Reads each question by the folder and the server that it names. */
const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
from reader import SETTINGS, Artifacts, Connection, answer
place = artifacts = connection = None
for line in sys.stdin:
    asked = json.loads(line)
    if place != asked["place"]:
        place = asked["place"]
        artifacts, connection = Artifacts(place[0]), Connection(place[1], SETTINGS)
    print(json.dumps(answer(artifacts, connection, asked["question"])), flush=True)
`

/** Without Python the reader is left out, which is said once. */
const hasPython = printedBy('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))') !== null
if (!hasPython) console.warn('There is no python3 (3.9 or newer): fixtures/reader reads no golden documents.')

/** Null: there is no Python. */
export function startReaders(): Readers | null {
  if (!hasPython) return null
  const child = spawn('python3', ['-B', '-c', program, modules], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const open: Readers['open'] = (files, url) => {
    const folder = mkdtempSync(join(tmpdir(), 'catalograph-reader-'))
    mkdirSync(join(folder, 'documents'))
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
    return {
      ask: async ({ role, claims, text, variables }) => {
        child.stdin.write(`${JSON.stringify({ place: [folder, url], question: { role, claims, text, variables } })}\n`)
        const { done, value } = await lines.next()
        if (done === true) throw new Error('the reader of artifacts ended')
        return JSON.parse(value) as Awaited<ReturnType<Reader['ask']>>
      },
      close: () => rmSync(folder, { recursive: true }),
    }
  }
  return { open, stop: () => child.stdin.end() }
}
