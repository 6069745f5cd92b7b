import { sha256Hex } from '../../../runtime/lib/text.ts'

/** The maximum length of a line. */
const lineLength = 120

/**
 * A value as JSON for line-by-line review: a list or an object is on one line if it fits, and else has a line for each
 * member. Integers beyond 2^53 are printed as texts, which is how they are sent anyway.
 */
export const printedResult = (value: unknown): string => `${printedAt(value, '')}\n`

/** A file and the hash that is its name. */
export interface AddressedFile {
  readonly address: string
  readonly content: string
}

export function addressed(value: unknown): AddressedFile {
  const content = printedResult(value)
  return { address: sha256Hex(content).slice(0, 16), content }
}

function printedAt(value: unknown, indent: string): string {
  if (typeof value === 'bigint') return `"${value}"`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const inner = `${indent}  `
  if (Array.isArray(value))
    return wrapped(
      '[',
      ']',
      value.map((item) => printedAt(item, inner)),
      indent,
    )
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return wrapped(
    '{',
    '}',
    members.map(([name, member]) => `${JSON.stringify(name)}: ${printedAt(member, inner)}`),
    indent,
  )
}

function wrapped(open: string, close: string, items: readonly string[], indent: string): string {
  const length = items.reduce((sum, item) => sum + item.length + 2, indent.length + 2)
  // A member with a line break is longer than a line.
  if (length <= lineLength) return `${open}${items.join(', ')}${close}`
  return `${open}\n${indent}  ${items.join(`,\n${indent}  `)}\n${indent}${close}`
}
