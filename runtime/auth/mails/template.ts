import { after, afterVariable, placeIn, startState, type Place, type HtmlState } from './html-place.ts'
import type { TemplateTexts } from './kinds.ts'
import type { MailVariables } from './mailer.ts'
import { isJsonObject } from '../../lib/json.ts'

/**
 * Templates of mails: text with variables as `{{ .Token }}`, and nothing else. No functions, no files, no conditions: a
 * template is data (spec/auth.md, attack 28). Each value is escaped for its position.
 */

class TemplateFault extends Error {
  override readonly name = 'TemplateFault'
}

interface Variable {
  readonly kind: 'variable'
  readonly name: keyof MailVariables
  readonly path: readonly string[]
}

type Part = { readonly kind: 'literal'; readonly text: string } | (Variable & { readonly place: Place | 'subject' })

export type Template = readonly Part[]

export function parseHtml(source: string): Template {
  let state: HtmlState = startState
  const parts = split(source).map((piece): Part => {
    if (piece.kind === 'literal') {
      state = after(state, piece.text)
      return piece
    }
    const place = placeIn(state)
    if (place === null)
      throw new TemplateFault(`{{ .${shortened([piece.name, ...piece.path].join('.'))} }} stands ${misplaced}`)
    state = afterVariable(state)
    return { ...piece, place }
  })
  if (state.in !== 'text' && state.in !== 'raw') throw new TemplateFault('the HTML ends within a tag or a comment')
  return parts
}

const misplaced = 'where no variable may: put it into text or a quoted address'

export function parseSubject(source: string): Template {
  return split(source).map((piece) => (piece.kind === 'literal' ? piece : { ...piece, place: 'subject' }))
}

type Piece = { readonly kind: 'literal'; readonly text: string } | Variable

function split(source: string): readonly Piece[] {
  // Comments are removed first, so that the text around one becomes one text.
  const pieces = source.replace(/\{\{\s*\/\*[^]*?\*\/\s*\}\}/g, '').split(/(\{\{[^]*?\}\})/)
  return pieces.flatMap((text, index): readonly Piece[] => {
    if (index % 2 === 1) return readAction(text.slice(2, -2))
    if (text.includes('{{')) throw new TemplateFault('a {{ has no }}')
    return text === '' ? [] : [{ kind: 'literal', text }]
  })
}

function readAction(action: string): readonly Piece[] {
  const inner = action.trim()
  if (!/^\.[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(inner)) {
    throw new TemplateFault(`{{ ${shortened(inner)} }} is not a variable; a variable is written {{ .Token }}`)
  }
  const [name = '', ...path] = inner.slice(1).split('.')
  if (!isName(name)) throw new TemplateFault(`{{ .${shortened(name)} }} is not a variable of mails`)
  if ((name === 'Data') !== path.length > 0) {
    const isData = name === 'Data'
    throw new TemplateFault(isData ? '{{ .Data }} needs a key: {{ .Data.name }}' : `{{ .${name} }} has no keys`)
  }
  return [{ kind: 'variable', name, path }]
}

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

const isName = (name: string): name is keyof MailVariables => Object.hasOwn(blankVariables, name)

export function render(template: Template, variables: MailVariables): string {
  return template.map((part) => (part.kind === 'literal' ? part.text : escapeFor(part, variables))).join('')
}

/** A subject is one line: line breaks are removed (spec/auth.md, attack 27). */
export function renderSubject(template: Template, variables: MailVariables): string {
  const line = render(template, variables).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return [...line].slice(0, longestSubject).join('').trim()
}

const longestSubject = 255

/** Addresses made of checked ones. */
const checkedAddresses: ReadonlySet<keyof MailVariables> = new Set<keyof MailVariables>([
  'ConfirmationURL',
  'SiteURL',
  'RedirectTo',
])

function escapeFor({ name, path, place }: Part & { readonly kind: 'variable' }, variables: MailVariables): string {
  const value = variableText(variables, name, path)
  switch (place) {
    case 'subject':
      return value
    case 'html':
      return escapeHtml(value)
    case 'comment':
      // A comment can be ended by more than `-->`.
      return escapeHtml(value).replaceAll('-', '&#45;')
    case 'url-start':
      return checkedAddresses.has(name) || /^https?:\/\//i.test(value) ? escapeHtml(normalAddress(value)) : '#'
    case 'url-path':
      return escapeHtml(normalAddress(value))
    case 'url-query':
      return escapeHtml(encodeURIComponent(value))
  }
}

function variableText(variables: MailVariables, name: keyof MailVariables, path: readonly string[]): string {
  const value = path.reduce<unknown>(ownMember, variables[name])
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

function ownMember(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** Percent-encodes characters that an address cannot contain (RFC 3986 section 2); existing encoding stays. */
const normalAddress = (text: string): string =>
  text.replace(/[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/gu, encodeURIComponent)

const marker = 'https://marker.invalid/confirmation'

const blankVariables: MailVariables = {
  ConfirmationURL: '',
  Token: '',
  TokenHash: '',
  SiteURL: '',
  Email: '',
  NewEmail: '',
  RedirectTo: '',
  SendingTo: '',
  Data: {},
}

/** Whether people will see the link in the mail: a comment does not count. */
function showsLink(html: Template): boolean {
  const visible = html.filter((part) => part.kind === 'literal' || part.place !== 'comment')
  return render(visible, { ...blankVariables, ConfirmationURL: marker }).includes(marker)
}

const longestHtml = 262_144

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
