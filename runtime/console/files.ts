import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { sha256Hex } from '../lib/text.ts'

/** A file of the built page, ready to be sent. */
export interface PageFile {
  readonly type: string
  readonly bytes: Buffer
  readonly gzipped: Buffer
  /** Entity tag (RFC 9110 section 8.8.3): versions share their names, so browsers revalidate. */
  readonly tag: string
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** The output of `npm run build`, relative to a built process and to one that runs from source, as tests do. */
const folders = [new URL('./built/', import.meta.url), new URL('../../dist/runtime/console/built/', import.meta.url)]

/**
 * The files by name; empty if the page was never built. A process reads and compresses the dozen files once, whereas
 * @fastify/static reads the disk for each request.
 */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => [])
    if (names.length === 0) continue
    return new Map(await Promise.all(names.map(async (name) => [name, await read(folder, name)] as const)))
  }
  return new Map()
}

async function read(folder: URL, name: string): Promise<PageFile> {
  const bytes = await readFile(new URL(name, folder))
  return {
    type: types[extname(name)] ?? 'application/octet-stream',
    bytes,
    gzipped: await promisify(gzip)(bytes),
    tag: `"${sha256Hex(bytes).slice(0, 32)}"`,
  }
}
