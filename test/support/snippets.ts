import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { examplesIn, readPage } from './examples.ts'

/** The files that a page shows, by the names in their first lines. */
export const snippetsOf = (page: string): ReadonlyMap<string, string> =>
  new Map(
    examplesIn(readPage(page)).flatMap(({ text }) => {
      const [, name, body] = /^\/\/ (\S+)\n([^]*)$/.exec(text) ?? []
      return name === undefined || body === undefined ? [] : [[name, body] as const]
    }),
  )

export function writeSnippets(folder: string, files: Iterable<readonly [name: string, text: string]>): void {
  for (const [name, text] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}
