import { fork, type ChildProcess } from 'node:child_process'
import { builtModule } from '../../runtime/lib/built-module.ts'

/** The problem of a text whose parsing process ended. */
export const gaveUp = 'the parser gave up'

/** A question about a text: why it is not one statement, or its tree, as SQL or as a PL/pgSQL function. */
export interface ParserQuestion {
  readonly sql: string
  readonly wants: 'problem' | 'sql' | 'plpgsql'
}

interface Parser {
  readonly child: ChildProcess
  /** Called without a message if the process ended. */
  readonly waiting: ((message?: { readonly answer: unknown }) => void)[]
  readonly idle: NodeJS.Timeout
}

/** Compiles often follow each other; a text takes milliseconds, and after this time parsing would never end. */
const idleMs = 10_000

/**
 * WebAssembly code without optimization, which takes longer than parsing a schema: with it sixty statements take twice
 * the CPU, and the process half as much memory again.
 */
const execArgv = ['--liftoff-only']

let running: Parser | null = null

/**
 * Why a text is not exactly one statement of PostgreSQL 16, or null if it is.
 *
 * The parser is WebAssembly: the memory that the engine uses to compile it, 40 MB, is only freed when a process ends.
 * So it runs in a separate process, which all compilers share and which ends after a time of idleness.
 */
export const parseApart = async (sql: string): Promise<string | null> => {
  const message = await ask({ sql, wants: 'problem' })
  return message === undefined ? gaveUp : (message.answer as string | null)
}

/** The parse tree of SQL, or of the statement that creates a PL/pgSQL function; null if it cannot be parsed. */
export const treeApart = async (sql: string, wants: 'sql' | 'plpgsql'): Promise<unknown> =>
  (await ask({ sql, wants }))?.answer ?? null

function ask(question: ParserQuestion): Promise<{ readonly answer: unknown } | undefined> {
  const { child, waiting, idle } = startParser()
  idle.refresh()
  // A pending call keeps this process alive; an idle parser does not.
  child.channel?.ref()
  return new Promise((resolve) => {
    waiting.push(resolve)
    child.send(question)
  })
}

/** Starts the parser unless it runs, so that the next check does not wait for its start. */
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
  const parser: Parser = { child, waiting: [], idle: setTimeout(() => endParser(parser), idleMs).unref() }
  child.unref()
  child.channel?.unref()
  child.on('message', (message: { readonly answer: unknown }) => answerNext(parser, message))
  child.on('error', () => endParser(parser))
  child.on('disconnect', () => endParser(parser))
  return parser
}

function answerNext({ child, waiting }: Parser, message: { readonly answer: unknown }): void {
  waiting.shift()?.(message)
  if (waiting.length === 0) child.channel?.unref()
}

function endParser(parser: Parser): void {
  if (running === parser) running = null
  clearTimeout(parser.idle)
  parser.child.kill()
  for (const resolve of parser.waiting.splice(0)) resolve()
}
