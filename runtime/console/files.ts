import { readdir, readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { packageFolder } from '../lib/package.ts'
import { sha256Hex } from '../lib/text.ts'

/** A file of a built page, ready to be sent. */
export interface PageFile {
  readonly type: string
  readonly bytes: Buffer
  readonly gzipped: Buffer
  /** Entity tag (RFC 9110 section 8.8.3): versions share their names, so browsers revalidate. */
  readonly tag: string
}

/** For a page and its files: everything from this origin, and nothing inline. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.png': 'image/png',
}

/**
 * The files of a folder of the package by their paths within it, with slashes; empty if it was never built. A process
 * reads and compresses them once, whereas @fastify/static reads the disk for each request; a path outside them
 * has no entry.
 */
export async function readPageFiles(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const place = join(packageFolder(), folder)
  const entries = await readdir(place, { recursive: true, withFileTypes: true }).catch(() => [])
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const nameOf = (path: string): string => path.slice(place.length + 1).replaceAll(sep, '/')
  return new Map(await Promise.all(paths.map(async (path) => [nameOf(path), await read(path)] as const)))
}

async function read(path: string): Promise<PageFile> {
  const bytes = await readFile(path)
  return {
    type: types[extname(path)] ?? 'application/octet-stream',
    bytes,
    gzipped: await promisify(gzip)(bytes),
    tag: `"${sha256Hex(bytes).slice(0, 32)}"`,
  }
}

export function sendPageFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  file: PageFile,
  policy: string,
): FastifyReply {
  reply.headers({
    'content-type': file.type,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-cache',
    etag: file.tag,
    vary: 'accept-encoding',
  })
  if (headers['if-none-match'] === file.tag) return reply.code(304).send()
  const accepted = headers['accept-encoding']
  if (typeof accepted !== 'string' || !/\bgzip\b/.test(accepted)) return reply.send(file.bytes)
  return reply.header('content-encoding', 'gzip').send(file.gzipped)
}
