import { EventEmitter, once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { codegenCommand } from '../../../compiler/commands/codegen.ts'
import { compileCommand } from '../../../compiler/commands/compile.ts'
import { costCommand } from '../../../compiler/commands/cost.ts'
import { diffCommand } from '../../../compiler/commands/diff.ts'
import { mailsCommand } from '../../../compiler/commands/mails.ts'
import { serveCommand } from '../../../compiler/commands/serve.ts'
import { product } from '../../../compiler/commands/verify.ts'
import { commandOf as verifyOf } from '../../reference/command.ts'
import { runCommand } from '../../support/command.ts'
import { createDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

const commands = [
  codegenCommand,
  compileCommand,
  costCommand,
  diffCommand,
  mailsCommand,
  serveCommand,
  verifyOf(product),
]
const here = import.meta.filename

const lines: readonly (readonly string[])[] = [
  ['compile'],
  ['verify'],
  ['cost', '--documents', here],
  ['diff', '--migration', here],
  ['mails'],
  ['codegen', '--out', '/nowhere'],
]

describe('a database that cannot be reached', () => {
  const db = forSuite(createDatabase)

  const faults = (): readonly (readonly [url: string, told: string])[] => {
    const [closed, missing] = [new URL(db.url), new URL(db.url)]
    closed.port = '1'
    missing.pathname = '/nope'
    return [
      [closed.href, 'ECONNREFUSED 127.0.0.1:1: nothing listens there; check host and port'],
      [missing.href, 'database "nope" does not exist: check the name of the database in the URL'],
      [`${db.url}?sslmode=requires`, 'sslmode=requires is none of'],
      [`${db.url}?sslmode=require`, 'The server does not support SSL connections: use sslmode=prefer'],
    ]
  }

  it.each(lines.map((line) => [line.join(' '), line] as const))('is named by %s', async (_text, args) => {
    for (const [url, told] of faults()) {
      const { exitCode, noted } = await runCommand(commands, args, { environment: { DATABASE_URL: url } })
      expect(noted).toContain(told)
      expect(exitCode).not.toBe(0)
    }
  })

  it('is named in the log of a server, which goes on trying', async () => {
    const [[url, told] = ['', '']] = faults()
    const environment = { DATABASE_URL: url, JWT_SECRET: 'x'.repeat(32), PORT: '0' }
    const notes = new EventEmitter()
    const stop = (async () => {
      for (let times = 0; times < 2; times += 1) await once(notes, 'told')
      return 'the test'
    })()
    const onNote = (line: string): unknown => line.includes(told) && notes.emit('told')
    const { exitCode } = await runCommand(commands, ['serve'], { environment, stop, onNote })
    expect(exitCode).toBe(0)
  })
})
