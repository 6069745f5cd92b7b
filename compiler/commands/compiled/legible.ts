import { basename } from 'node:path'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import {
  documentFile,
  documentsIndex,
  type CompiledOperation,
  type CompiledText,
  type DocumentFile,
  type DocumentsIndex,
  type RunShape,
  type UnnamedStatement,
} from '../../../runtime/graphql/compiled/format.ts'
import { groupBy } from '../../../runtime/lib/steps.ts'
import { legibleSql } from '../../catalog/diagnostics/legible-sql.ts'
import type { GivenDocument } from '../advise/diff/document-changes.ts'

const lineLength = 120

/**
 * A value as JSON for line-by-line review: a list or an object is on one line if it fits, and else has a line for each
 * member. Integers beyond 2^53 are printed as texts, which is how they are sent anyway.
 */
export const printedResult = (value: unknown): string => `${printedAt(value, '')}\n`

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

/** The SQL of compiled documents for people, beside the served files. */

type Files = Readonly<Record<string, string>>

interface Page {
  readonly source: string
  readonly hash: string
  readonly roles: readonly string[]
  readonly address: string
}

/**
 * By path `documents/NAME.ROLE.sql` the statements of a document, once for roles with equal ones: the path names the
 * first.
 * @param files of compiled documents
 */
export function legibleDocuments(files: Files, documents: readonly GivenDocument[]): Files {
  const index = JSON.parse(files[documentsIndex] ?? '') as DocumentsIndex
  const pages = documents.flatMap(({ source, text }) => documentPages(index, source, sha256Hex(text)))
  // Names that are distinct on each file system.
  const named = groupBy(pages, (page) => pagePath(page, '').toLowerCase())
  return Object.fromEntries(
    [...named.values()].flatMap((same) =>
      same.map((page) => [pagePath(page, same.length === 1 ? '' : `-${markOf(page)}`), pageText(files, page)] as const),
    ),
  )
}

function documentPages({ roles }: DocumentsIndex, source: string, hash: string): readonly Page[] {
  const asking = Object.entries(roles).flatMap(([role, addresses]) => {
    const address = addresses[hash]
    return address === undefined ? [] : [{ role, address }]
  })
  return [...groupBy(asking, ({ address }) => address)].map(([address, same]) => {
    return { source, hash, address, roles: same.map(({ role }) => role) }
  })
}

const pagePath = ({ source, roles: [role = ''] }: Page, mark: string): string =>
  `documents/${fileName(documentName(source))}${mark}.${fileName(role)}.sql`

/** Of a file, or the operations of one of the documents in a file. */
const documentName = (source: string): string => source.split('#')[1] ?? basename(source).replace(/\.\w+$/, '')

const fileName = (name: string): string => name.replaceAll(/[^\p{L}\p{N}_-]+/gu, '-')
const markOf = ({ source, hash, roles }: Page): string => sha256Hex(JSON.stringify([source, hash, roles])).slice(0, 8)

function pageText(files: Files, { source, roles, address }: Page): string {
  const { operations } = JSON.parse(files[documentFile(address)] ?? '') as DocumentFile
  const head = comment(`${basename(source)} for ${roles.join(', ')}`)
  return [head, ...operations.map(operationText)].join('\n')
}

function operationText({ kind, name, shapes }: CompiledOperation): string {
  const runs = Object.values(shapes).flatMap((shape) =>
    'statements' in shape ? [{ variables: shape.variables, text: runText(shape) }] : [],
  )
  const different = [...groupBy(runs, ({ text }) => text)].map(([text, [first]]) => ({ text, ...first }))
  const title = name === null ? kind : `${kind} ${name}`
  return different
    .map(({ text, variables }) => {
      const asked = different.length === 1 ? '' : ` with variables such as ${JSON.stringify(variables)}`
      return `${comment(`${title}${asked}`)}${text}`
    })
    .join('\n')
}

const runText = ({ statements }: RunShape): string =>
  statements.length === 0 ? comment('asks the database for nothing') : statements.map(statementText).join('\n')

const statementText = ({ text, values }: UnnamedStatement): string =>
  `${values.map((value, place) => comment(`$${place + 1} = ${valueText(value)}`)).join('')}${legibleSql(wholeOf(text))};\n`

/** A placeholder of a page size instead of its digits. */
const wholeOf = (text: CompiledText): string =>
  [text]
    .flat()
    .map((part) => {
      if (typeof part === 'string') return part
      const size = `least($${part.variable}, ${part.most})`
      return part.plus === 0 ? size : `${size} + ${part.plus}`
    })
    .join('')

/** The origin of a parameter; its encoding is in the served file. */
function valueText({ slot, encoding }: UnnamedStatement['values'][number]): string {
  const from = slotText(slot)
  return encoding.kind === 'scalar' || encoding.kind === 'array' ? from : `${encoding.kind} of ${from}`
}

function slotText(slot: UnnamedStatement['values'][number]['slot']): string {
  switch (slot.kind) {
    case 'constant':
      return JSON.stringify(slot.value)
    case 'variable':
      return `$${slot.path.join('.')}`
    case 'tenant':
      return slot.expression
    case 'list':
      return `[${slot.items.map(slotText).join(', ')}]`
    case 'object':
      return `{ ${slot.fields.map(([name, field]) => `${name}: ${slotText(field)}`).join(', ')} }`
    case 'within':
    case 'outer-places':
    case 'inner-places':
      return `${slot.kind} ${slotText(slot.of)}`
  }
}

const comment = (text: string): string => `-- ${text.replaceAll(/\s*[\r\n\u2028\u2029]+\s*/g, ' ')}\n`
