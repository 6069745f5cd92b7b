import { readFileSync } from 'node:fs'

/** A document whose sections, list items and table rows have numbers. */
export interface Document {
  /** Text of each section by its number (`4`, `4.3`), without that of the sections in it. */
  readonly sections: ReadonlyMap<string, string>
}

export interface Place {
  readonly section: string
  /** `decision`, `attack`, `fact`, `row`, `step`; without it the section itself is meant. */
  readonly kind?: string
  readonly item?: string
}

export function readDocument(path: string): Document {
  const parts = readFileSync(path, 'utf8')
    .split(/^#{2,3} (?=\d)/m)
    .slice(1)
  return { sections: new Map(parts.map((part) => [/^\d+(?:\.\d+)?/.exec(part)?.[0] ?? '', part])) }
}

/** Tables and lists that have a name of their own: they are numbered over the whole document. */
const homes: Readonly<Record<string, string>> = { decision: '0', attack: '15', fact: '16' }

/** Whether the place exists. `9.1.5` is item 5 of `9.1`, `8.4` item 4 of `8` where no heading has it. */
export function resolves({ sections }: Document, { section, kind, item }: Place): boolean {
  if (kind !== undefined) return itemsOf(sections.get(homes[kind] ?? section) ?? '').has(item ?? '')
  if (sections.has(section)) return true
  const [, outer = '', inner = ''] = /^(.*)\.(\d+)$/.exec(section) ?? []
  return itemsOf(sections.get(outer) ?? '').has(inner)
}

/** Numbers of list items, and of table rows by their first column. */
const itemsOf = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/^(?:\| (\d+) \||(\d+)\. )/gm)].map(([, row, item]) => row ?? item ?? ''))

/** `4.2, 4.3` and `9.1 to 9.3` -> each number that is written. */
export const numbersIn = (list: string): readonly string[] => list.match(/\d+(?:\.\d+)*/g) ?? []
