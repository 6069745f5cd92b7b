import type { TemplateTexts } from './kinds.ts'
import { parseHtml, parseSubject, showsLink, TemplateFault } from './template.ts'

const longestHtml = 262_144
const longestSubject = 255

/** The fault of a template; null: none. */
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
