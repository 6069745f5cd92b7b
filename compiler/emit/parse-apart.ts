import { fork, type ChildProcess } from 'node:child_process'
import { builtModule } from '../../runtime/lib/built-module.ts'

/** What is said of a text when the process that parses it ended instead of answering. */
export const gaveUp = 'the parser gave up'

/** What a text is asked about: why it is not one statement, or its tree, as SQL or as the definition of a PL/pgSQL function. */
export interface ParserQuestion {
  readonly sql: string
  readonly wants: 'problem' | 'sql' | 'plpgsql'
}

/** A process that parses, and who waits for its answers, in order. */
interface Parser {
  readonly child: ChildProcess
  /** Called with nothing where the process ended. */
  readonly waiting: ((message?: { readonly answer: unknown }) => void)[]
  readonly idle: NodeJS.Timeout
}

/** Compiles often follow each other; one text takes milliseconds, and one that took this long would never end. */
const idleMs = 10_000

/**
 * Code of WebAssembly as it is translated at first. Translating it again, better, takes more than parsing a schema: without it
 * sixty statements take half of the CPU, and the process two thirds of the memory.
 */
const execArgv = ['--liftoff-only']

let running: Parser | null = null

/**
 * Why a text is not exactly one statement of PostgreSQL 16, or null when it is.
 *
 * The parser is WebAssembly: what the engine leaves behind when it made code of it, 40 MB, is given back by a process only when
 * it ends. So it runs in one of its own, which all compilers share and which ends when it is not asked for a while.
 */
export const parseApart = async (sql: string): Promise<string | null> => {
  const message = await ask({ sql, wants: 'problem' })
  return message === undefined ? gaveUp : (message.answer as string | null)
}

/** The parse tree of SQL, or of the statement that creates a PL/pgSQL function; null where it cannot be parsed. */
export const treeApart = async (sql: string, wants: 'sql' | 'plpgsql'): Promise<unknown> =>
  (await ask({ sql, wants }))?.answer ?? null

function ask(question: ParserQuestion): Promise<{ readonly answer: unknown } | undefined> {
  const { child, waiting, idle } = startParser()
  idle.refresh()
  // Who waits for an answer keeps this process; a parser that waits for questions does not.
  child.channel?.ref()
  return new Promise((resolve) => {
    waiting.push(resolve)
    child.send(question)
  })
}

/** Starts the parser unless it runs, so that the next check need not wait for its start. */
export function startParser(): Parser {
  return (running ??= openParser())
}

function openParser(): Parser {
  const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const
  const child = fork(builtModule(import.meta.url, 'compiler/emit/parser-process.js'), {
    env: {},
    execArgv,
    stdio: [...stdio],
  })
  const parser: Parser = { child, waiting: [], idle: setTimeout(() => end(parser), idleMs).unref() }
  child.unref()
  child.channel?.unref()
  child.on('message', (message: { readonly answer: unknown }) => answer(parser, message))
  child.on('error', () => end(parser))
  child.on('disconnect', () => end(parser))
  return parser
}

function answer({ child, waiting }: Parser, message: { readonly answer: unknown }): void {
  waiting.shift()?.(message)
  if (waiting.length === 0) child.channel?.unref()
}

function end(parser: Parser): void {
  if (running === parser) running = null
  clearTimeout(parser.idle)
  parser.child.kill()
  for (const resolve of parser.waiting.splice(0)) resolve()
}
