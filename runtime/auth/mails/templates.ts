import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type MailKind, type TemplateTexts, mailKinds, templateKinds } from './kinds.ts'
import { parseHtml, parseSubject, showsLink, TemplateFault } from './template.ts'
import type { RunStatement } from '../../db/pool/statements.ts'
import type { Parsed } from '../../settings/parsers.ts'
import { deleteTemplateRow, putTemplate, storedTemplates } from '../store/mail-templates.ts'

/**
 * The durations of the last mails of each kind, so that calls without a mail can take as long (spec/auth.md, attack
 * 22).
 */
interface Durations {
  readonly note: (kind: MailKind, ms: number) => void
  /** Resolves when the time since `began` equals the duration of one of the last mails. */
  readonly wait: (kind: MailKind, began: number) => Promise<void>
}

const remembered = 64
/** Before the first mail of a process. */
const firstMs = 12

export function createDurations(): Durations {
  const known = new Map<MailKind, number[]>()
  const pick = (kind: MailKind): number => {
    const list = known.get(kind) ?? []
    return list.length === 0 ? firstMs : (list[randomInt(list.length)] ?? firstMs)
  }
  return {
    note: (kind, ms) => {
      const list = known.get(kind) ?? []
      known.set(kind, [...list, ms].slice(-remembered))
    },
    wait: async (kind, began) => {
      const left = began + pick(kind) - performance.now()
      if (left > 0) await sleep(left)
    },
  }
}

const longestHtml = 262_144
const longestSubject = 255

export function faultOf({ subject, html }: TemplateTexts): string | null {
  if (subject.trim() === '') return 'has no subject'
  if ([...subject].length > longestSubject) return `has a subject of more than ${longestSubject} characters`
  if (html.length > longestHtml) return `has more than ${longestHtml} characters`
  if (/\0|[\ud800-\udfff]/u.test(subject + html)) return 'holds characters that cannot be stored'
  try {
    parseSubject(subject)
    return showsLink(parseHtml(html)) ? null : 'must show the link: {{ .ConfirmationURL }} is missing'
  } catch (error) {
    if (error instanceof TemplateFault) return error.message
    throw error
  }
}

interface ListedTemplate extends TemplateTexts {
  readonly kind: MailKind
  readonly changed: boolean
}

export async function listTemplates(run: RunStatement): Promise<readonly ListedTemplate[]> {
  const stored = await storedTemplates(run)
  return templateKinds.map((kind) => {
    const own = stored.get(kind)
    const { subject, html } = own ?? mailKinds[kind]
    return { kind, subject, html, changed: own !== undefined }
  })
}

/**
 * Stores a template; omitted parts stay unchanged. Returns its fault as a sentence, and stores nothing then: over HTTP
 * that is 422 `validation_failed`.
 */
export async function setTemplate(
  run: RunStatement,
  kind: MailKind,
  texts: Partial<TemplateTexts>,
): Promise<Parsed<TemplateTexts>> {
  const before = (await storedTemplates(run)).get(kind) ?? mailKinds[kind]
  const wanted = { subject: texts.subject ?? before.subject, html: texts.html ?? before.html }
  const problem = faultOf(wanted)
  if (problem !== null) return { kind: 'problem', problem }
  await putTemplate(run, kind, wanted)
  return { kind: 'value', value: wanted }
}

export async function resetTemplate(run: RunStatement, kind: MailKind): Promise<void> {
  await deleteTemplateRow(run, kind)
}
