import { fork, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What is said of a text when the process that parses it ended instead of answering. */
export const gaveUp = 'the parser gave up'

/** A process that parses, and who waits for its answers, in order. */
interface Parser {
  readonly child: ChildProcess
  readonly waiting: ((problem: string | null) => void)[]
  readonly idle: NodeJS.Timeout
}

/** Compiles often follow each other; one text takes milliseconds, and one that took this long would never end. */
const idleMs = 10_000

/** The built module, seen from a built process and from one that runs from source, as tests do. */
const modules = ['./parser-process.js', '../../dist/compiler/emit/parser-process.js'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

let running: Parser | null = null

/**
 * Why a text is not exactly one statement of PostgreSQL 16, or null when it is.
 *
 * The parser is WebAssembly: what the engine leaves behind when it made code of it, 40 MB, is given back by a process only when
 * it ends. So it runs in one of its own, which all compilers share and which ends when it is not asked for a while.
 */
export function parseApart(sql: string): Promise<string | null> {
  const { child, waiting, idle } = startParser()
  idle.refresh()
  // Who waits for an answer keeps this process; a parser that waits for questions does not.
  child.channel?.ref()
  return new Promise((resolve) => {
    waiting.push(resolve)
    child.send(sql)
  })
}

/** Starts the parser unless it runs, so that the next check need not wait for its start. */
export function startParser(): Parser {
  return (running ??= openParser())
}

function openParser(): Parser {
  const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const
  const child = fork(modules.find((path) => existsSync(path)) ?? '', { env: {}, execArgv: [], stdio: [...stdio] })
  const parser: Parser = { child, waiting: [], idle: setTimeout(() => end(parser), idleMs).unref() }
  child.unref()
  child.channel?.unref()
  child.on('message', (problem: string | null) => answer(parser, problem))
  child.on('error', () => end(parser))
  child.on('disconnect', () => end(parser))
  return parser
}

function answer({ child, waiting }: Parser, problem: string | null): void {
  waiting.shift()?.(problem)
  if (waiting.length === 0) child.channel?.unref()
}

function end(parser: Parser): void {
  if (running === parser) running = null
  clearTimeout(parser.idle)
  parser.child.kill()
  for (const resolve of parser.waiting.splice(0)) resolve(gaveUp)
}
