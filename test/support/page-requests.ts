import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { AuthServer } from './auth.ts'
import { openEvents } from './event-client.ts'
import { postGraphql } from './post-graphql.ts'

/** The requests of the pages to the address of `npm start`, sent to this server. */
export type PageServer = Pick<AuthServer, 'url' | 'anon' | 'mails'>

const address = 'http://127.0.0.1:54321'

export const ask = (server: PageServer, body: object): Promise<Response> => postGraphql(server, body)

/** Does what curl does with the few options that the pages use. */
export async function curl(server: PageServer, words: readonly string[]): Promise<void> {
  const after = (option: string): readonly string[] =>
    words.flatMap((word, index) => (words[index - 1] === option ? [word] : []))
  const url = words.find((word) => word.startsWith(address))?.replace(address, server.url) ?? ''
  const headers = after('-H').map((header) => header.replace('$ANON', server.anon).split(': ') as [string, string])
  const [code] = await server.mails('ada@example.com')
  const [data] = after('-d').map((body) => body.replace('THE CODE', code?.code ?? ''))
  const given = Object.fromEntries(headers)
  if (given['accept'] === 'text/event-stream') return firstEvent(url, data ?? '', given)
  const sent = data === undefined ? {} : { method: 'POST', body: data }
  await check(await fetch(url, { headers: given, ...sent }), undefined)
}

/** The output of curl for a stream before the first change. */
async function firstEvent(url: string, data: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const stream = await openEvents(url, JSON.parse(data) as object, headers)
  const event = await stream.next()
  await check(new Response(event?.data ?? null, { status: stream.status }), undefined)
  stream.close()
}

export async function check(response: Response, refusal: string | undefined): Promise<void> {
  const body = (await response.json()) as { data?: unknown; errors?: readonly { extensions: { code: string } }[] }
  expect(response.status, JSON.stringify(body)).toBe(200)
  expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(refusal && [refusal])
  if (refusal === undefined) expect(JSON.stringify(body.data ?? body)).not.toMatch(/^\{\}$|^\{"\w+": ?\{"edges": ?\[\]/)
}

/**
 * Runs the program of a page and types the code that was mailed when it asks. Node 20 has no WebSocket, as browsers do.
 * @param folder where it finds what it imports
 */
export function converse(server: PageServer, text: string, folder: string): Promise<string> {
  writeFileSync(join(folder, 'example.mjs'), text.replace(address, server.url))
  writeFileSync(join(folder, 'socket.mjs'), `import { WebSocket } from 'ws'\nglobalThis.WebSocket ??= WebSocket`)
  const program = spawn(process.execPath, ['--import', './socket.mjs', 'example.mjs'], {
    cwd: folder,
    env: { ...process.env, ANON: server.anon },
  })
  let printed = ''
  program.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  program.stdout.on('data', (chunk: Buffer) => {
    const before = printed
    printed += chunk.toString()
    if (!before.includes('The code') && printed.includes('The code'))
      void server.mails('bob@example.com').then(([mail]) => program.stdin.write(`${mail?.code}\n`))
  })
  return new Promise((resolve) => program.once('close', () => resolve(printed)))
}
