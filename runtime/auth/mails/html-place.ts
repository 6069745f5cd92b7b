/**
 * The position of a variable in an HTML document, which decides how its value is escaped. A small part of the HTML
 * Standard's tokenizer (section 13.2.5): enough to distinguish text, attribute values, comments and raw elements.
 */

/** Positions of variables. Of an address: its beginning, its path, or the part after `?` or `#`. */
export type Place = 'html' | 'comment' | 'url-start' | 'url-path' | 'url-query'

export type HtmlState =
  | { readonly in: 'text' }
  | { readonly in: 'comment' }
  /** The content of a raw element up to its end tag. */
  | { readonly in: 'raw'; readonly element: string }
  | { readonly in: 'tag'; readonly element: string }
  | {
      readonly in: 'value'
      readonly element: string
      readonly attribute: string
      readonly quote: string
      /** The beginning of the value. */
      readonly before: string
    }

interface Step {
  readonly state: HtmlState
  readonly at: number
}

export const startState: HtmlState = { in: 'text' }

const rawElements: ReadonlySet<string> = new Set([
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
  'noscript',
  'plaintext',
])

export function after(state: HtmlState, literal: string): HtmlState {
  let step: Step = { state, at: 0 }
  while (step.at < literal.length) step = next(step, literal)
  return step.state
}

function next({ state, at }: Step, literal: string): Step {
  switch (state.in) {
    case 'text':
      return inText(at, literal)
    case 'comment':
      return inComment(at, literal)
    case 'raw':
      return inRaw(state, at, literal)
    case 'tag':
      return inTag(state, at, literal)
    case 'value':
      return inValue(state, at, literal)
  }
}

const matchAt = (pattern: RegExp, literal: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(literal)
}

function inText(at: number, literal: string): Step {
  const open = literal.indexOf('<', at)
  if (open === -1) return { state: startState, at: literal.length }
  if (literal.startsWith('<!--', open)) return { state: { in: 'comment' }, at: open + 4 }
  const tag = matchAt(/<(\/?)([a-z!?][^\s/>]*)/iy, literal, open)
  if (tag === null) {
    // The following text would name the element.
    const unnamed = /^<\/?$/.test(literal.slice(open))
    return unnamed ? { state: { in: 'tag', element: '' }, at: literal.length } : { state: startState, at: open + 1 }
  }
  const [whole, slash = '', name = ''] = tag
  return { state: { in: 'tag', element: slash + name.toLowerCase() }, at: open + whole.length }
}

function inComment(at: number, literal: string): Step {
  const end = matchAt(/--!?>/g, literal, at)
  return end === null
    ? { state: { in: 'comment' }, at: literal.length }
    : { state: startState, at: end.index + end[0].length }
}

function inRaw(state: HtmlState & { readonly in: 'raw' }, at: number, literal: string): Step {
  const end = literal.toLowerCase().indexOf(`</${state.element}`, at)
  if (end === -1) {
    const unnamed = /<\/?[a-z]*$/i.test(literal.slice(at))
    return { state: unnamed ? { in: 'tag', element: '' } : state, at: literal.length }
  }
  return { state: { in: 'tag', element: `/${state.element}` }, at: end + state.element.length + 2 }
}

function inTag(state: HtmlState & { readonly in: 'tag' }, at: number, literal: string): Step {
  const { element } = state
  if (literal[at] === '>') {
    return { state: rawElements.has(element) ? { in: 'raw', element } : startState, at: at + 1 }
  }
  const blank = matchAt(/[\s/]+/y, literal, at)
  if (blank !== null) return { state, at: at + blank[0].length }
  const quoted = matchAt(/([^\s/>][^\s/>=]*)\s*=\s*(["'])/y, literal, at)
  if (quoted !== null) {
    const [whole, attribute = '', quote = ''] = quoted
    const value = { in: 'value', element, attribute: attribute.toLowerCase(), quote, before: '' } as const
    return { state: value, at: at + whole.length }
  }
  const bare = matchAt(/[^\s/>][^\s/>=]*(\s*=\s*[^\s>]*)?/y, literal, at)
  return { state, at: at + (bare?.[0].length ?? 1) }
}

function inValue(state: HtmlState & { readonly in: 'value' }, at: number, literal: string): Step {
  const end = literal.indexOf(state.quote, at)
  if (end === -1) return { state: { ...state, before: state.before + literal.slice(at) }, at: literal.length }
  return { state: { in: 'tag', element: state.element }, at: end + 1 }
}

export function afterVariable(state: HtmlState): HtmlState {
  return state.in === 'value' ? { ...state, before: `${state.before}\u{fffd}` } : state
}

const addresses: ReadonlySet<string> = new Set(['href', 'src', 'action', 'background', 'cite', 'longdesc'])
const plainAttributes = /^(alt|title|aria-[a-z]+|data-[a-z-]+|class|id|name|value|placeholder|label|summary|lang)$/

/**
 * The position of a variable; null: variables are not allowed here, because their value could not be distinguished from
 * markup or script.
 */
export function placeIn(state: HtmlState): Place | null {
  switch (state.in) {
    case 'text':
      return 'html'
    case 'comment':
      return 'comment'
    case 'raw':
      return state.element === 'title' || state.element === 'textarea' ? 'html' : null
    case 'tag':
      return null
    case 'value':
      return placeInValue(state)
  }
}

function placeInValue({ attribute, before }: HtmlState & { readonly in: 'value' }): Place | null {
  if (plainAttributes.test(attribute)) return 'html'
  if (!addresses.has(attribute)) return null
  if (before.trim() === '') return 'url-start'
  if (/^\s*(javascript|data|vbscript)/i.test(before)) return null
  return /[?#]/.test(before) ? 'url-query' : 'url-path'
}
