import { readFile } from 'node:fs/promises'
import { isTemplateKind, templateKinds, type MailKind } from '../../../runtime/auth/mails/kinds.ts'
import { listTemplates, resetTemplate, setTemplate } from '../../../runtime/auth/mails/templates.ts'
import { CommandFailure, misuse } from '../command.ts'
import { readInput, type AuthSubcommand, type AuthWork } from './subcommand.ts'

type Act = (work: AuthWork, kind: MailKind) => Promise<void>

const acts: Readonly<Record<string, Act>> = {
  show: async ({ database, terminal }, kind) => {
    const template = (await listTemplates(database.run)).find((one) => one.kind === kind)
    terminal.print(template?.html ?? '')
  },
  set: async (work, kind) => {
    const { database, terminal, options } = work
    const { subject, html: file } = options
    if (subject === undefined && file === undefined) throw misuse('templates set needs --subject, --html or both')
    const texts = {
      ...(typeof subject === 'string' && { subject }),
      ...(typeof file === 'string' && { html: await htmlOf(work, file) }),
    }
    const saved = await setTemplate(database.run, kind, texts)
    if (saved.kind === 'problem') throw new CommandFailure(`nothing was saved: the template ${saved.problem}`)
    terminal.print(`${kind} is set; the next mail uses it`)
  },
  reset: async ({ database, terminal }, kind) => {
    await resetTemplate(database.run, kind)
    terminal.print(`${kind} is reset to its default`)
  },
}

export const templates: AuthSubcommand = {
  usage: 'templates [list] | templates show|reset KIND | templates set KIND [--subject TEXT] [--html FILE]',
  summary: `Templates of mails. Kinds: ${templateKinds.join(', ')}. FILE - is standard input.`,
  options: ['subject', 'html'],
  most: 2,
  run: async (work) => {
    const [act = 'list', kind] = work.args
    if (act === 'list') return listMails(work)
    const run = Object.hasOwn(acts, act) ? acts[act] : undefined
    if (run === undefined) throw misuse(`templates takes list, show, set or reset, not "${act}"`)
    if (kind === undefined || !isTemplateKind(kind)) throw misuse(`KIND is one of ${templateKinds.join(', ')}`)
    return run(work, kind)
  },
}

async function listMails({ database, terminal }: AuthWork): Promise<void> {
  for (const { kind, subject, changed } of await listTemplates(database.run)) {
    terminal.print(`${kind.padEnd(14)}${changed ? 'own      ' : 'default  '}${subject}`)
  }
}

async function htmlOf(work: AuthWork, file: string): Promise<string> {
  if (file === '-') return readInput(work)
  return readFile(file, 'utf8').catch(() => {
    throw new CommandFailure(`${file} cannot be read`)
  })
}
