import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cpuTime } from '../support/cpu.ts'
import { projectFolder } from '../support/record.ts'
import { median } from '../support/statistics.ts'
import { compilerOptions, unfinished, type EditorUse } from './application.ts'

/** The cost of an editor's language service while a selection is written. Milliseconds of CPU, all threads. */
export interface Edited {
  /** From its start to the first list of names. */
  readonly loadMs: number
  /** The list of names after an edit. */
  readonly completionMs: number
}

/** A position in a file; both count from 0. */
interface Position {
  readonly line: number
  readonly character: number
}

/** A language service with an open file. */
interface Session {
  readonly pid: number
  /** Adds a blank to the first line. */
  readonly edit: () => void
  /** The names that are offered. */
  readonly complete: (at: Position) => Promise<readonly string[]>
  readonly end: () => void
}

type Open = (file: string, text: string) => Promise<Session>

type Message = Readonly<Record<string, unknown>>

/** Calls back for each message of a stream with a length header before each. */
const readMessages = (child: ChildProcessWithoutNullStreams, onMessage: (message: Message) => void): void => {
  let pending = Buffer.alloc(0)
  child.stdout.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (let found = cut(pending); found !== null; found = cut(pending)) {
      pending = found.rest
      onMessage(JSON.parse(found.text) as Message)
    }
  })
}

const cut = (bytes: Buffer<ArrayBuffer>): { readonly text: string; readonly rest: Buffer<ArrayBuffer> } | null => {
  const start = bytes.indexOf('\r\n\r\n') + 4
  const end = start + Number(/Content-Length: (\d+)/.exec(bytes.toString('latin1', 0, start))?.[1])
  return start < 4 || bytes.length < end
    ? null
    : { text: bytes.toString('utf8', start, end), rest: bytes.subarray(end) }
}

/** The pending answers. */
const createAnswers = () => {
  const waiting = new Map<unknown, (message: Message) => void>()
  return {
    of: (id: number) => new Promise<Message>((resolve) => waiting.set(id, resolve)),
    settle: (id: unknown, message: Message): void => waiting.get(id)?.(message),
  }
}

/** The service of TypeScript 5, by the protocol of its own. */
const openTsserver: Open = async (file, text) => {
  const path = join(projectFolder, 'bench/codegen/node_modules/typescript/lib/tsserver.js')
  const child = spawn(process.execPath, [path, '--disableAutomaticTypingAcquisition'])
  const answers = createAnswers()
  readMessages(child, (message) => message['type'] === 'response' && answers.settle(message['request_seq'], message))
  let seq = 0
  const send = (command: string, args: Message): number => {
    child.stdin.write(`${JSON.stringify({ seq: ++seq, type: 'request', command, arguments: { file, ...args } })}\n`)
    return seq
  }
  send('open', { fileContent: text })
  return {
    pid: child.pid ?? 0,
    edit: () => send('change', { line: 1, offset: 1, endLine: 1, endOffset: 1, insertString: ' ' }),
    complete: async ({ line, character }) => {
      const { body } = await answers.of(send('completionInfo', { line: line + 1, offset: character + 1 }))
      return namesOf((body as { readonly entries?: unknown } | undefined)?.entries)
    },
    end: () => child.kill(),
  }
}

/** The service of TypeScript 7, by the Language Server Protocol. */
const openLanguageServer: Open = async (file, text) => {
  const child = spawn(process.execPath, [join(projectFolder, 'node_modules/typescript/bin/tsc'), '--lsp', '--stdio'])
  const answers = createAnswers()
  const write = (message: Message): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }
  readMessages(child, ({ id, method, ...message }) => {
    if (method === undefined) answers.settle(id, message)
    else if (id !== undefined) write({ id, result: null })
  })
  let last = 0
  const ask = (method: string, params: Message): Promise<Message> => {
    write({ id: ++last, method, params })
    return answers.of(last)
  }
  const uri = pathToFileURL(file).href
  await ask('initialize', { processId: process.pid, rootUri: pathToFileURL(join(file, '..')).href, capabilities: {} })
  write({ method: 'initialized', params: {} })
  write({
    method: 'textDocument/didOpen',
    params: { textDocument: { uri, languageId: 'typescript', version: 1, text } },
  })
  let version = 1
  return {
    pid: child.pid ?? 0,
    edit: () => {
      const contentChanges = [{ range: { start: origin, end: origin }, text: ' ' }]
      write({ method: 'textDocument/didChange', params: { textDocument: { uri, version: ++version }, contentChanges } })
    },
    complete: async (position) => {
      const { result } = await ask('textDocument/completion', { textDocument: { uri }, position })
      return namesOf((result as { readonly items?: unknown } | null)?.items)
    },
    end: () => child.kill(),
  }
}

const origin: Position = { line: 0, character: 0 }

/** Optional names have a question mark. */
const namesOf = (items: unknown): readonly string[] =>
  Array.isArray(items) ? items.map((item) => nameOf(item as Message).replace(/\?$/, '')) : []

const nameOf = ({ name, label }: Message): string => String(name ?? label)

/** TABLE */
const services = { 'TypeScript 5.9': openTsserver, 'TypeScript 7': openLanguageServer } as const

export type Service = keyof typeof services
export const serviceNames = Object.keys(services) as readonly Service[]

/** A service with an open file of this text, in a separate project. */
const open = (folder: string, service: Service, text: string): Promise<Session> => {
  const file = join(folder, 'unfinished.ts')
  writeFileSync(file, text)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['unfinished.ts'] }))
  return services[service](file, text)
}

/** The names that a service offers in a text. */
export const offeredBy = async (
  service: Service,
  folder: string,
  text: string,
  at: Position,
): Promise<readonly string[]> => {
  const session = await open(folder, service, text)
  try {
    return await session.complete(at)
  } finally {
    session.end()
  }
}

/** Throws if the service does not offer the table's columns. */
export const edit = async (folder: string, service: Service, use: EditorUse, edits: number): Promise<Edited> => {
  const { text, at, offered } = unfinished(use)
  const session = await open(folder, service, text)
  try {
    const complete = async (): Promise<void> => {
      const names = await session.complete(at)
      if (!names.includes(offered)) throw new Error(`${service} offers ${names.slice(0, 9).join(', ')}, not ${offered}`)
    }
    await complete()
    const loadMs = cpuTime(session.pid) / 1_000
    const completions: number[] = []
    for (let round = 0; round < edits; round++) {
      const from = cpuTime(session.pid)
      session.edit()
      await complete()
      completions.push((cpuTime(session.pid) - from) / 1_000)
    }
    return { loadMs, completionMs: median(completions) }
  } finally {
    session.end()
  }
}
