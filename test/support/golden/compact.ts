/** How many characters a line has where it can be broken. */
export const width = 140

/** As few lines as the items fit on. One that has several lines stands alone, as one does that is said to. */
export function filled(
  items: readonly string[],
  indent: string,
  isAlone: (item: string) => boolean = (item) => item.includes('\n'),
): string {
  const lines: string[] = []
  let open = false
  items.forEach((item, place) => {
    const text = place < items.length - 1 ? `${item},` : item
    const last = lines.at(-1) ?? ''
    if (open && !isAlone(item) && last.length + text.length < width) lines[lines.length - 1] = `${last} ${text}`
    else lines.push(`${indent}${text}`)
    open = !isAlone(item)
  })
  return lines.join('\n')
}

/**
 * JSON for people: what fits on a line stands on one, members of a longer object have lines of their own, elements of a longer
 * list as few as they fit on, and an only member stays beside what it is in.
 * @param leaf prints what is neither list nor object; undefined: it is one of these
 */
export function compactJson(value: unknown, leaf: (value: unknown) => string | undefined = plainLeaf): string {
  const printAt = (item: unknown, indent: string, taken: number): string => {
    const text = leaf(item)
    if (text !== undefined) return text
    const inner = `${indent}  `
    if (Array.isArray(item)) {
      if (item.length === 1) return `[${printAt(item[0], indent, taken + 2)}]`
      const items = item.map((one) => printAt(one, inner, 1))
      return fitting(`[${items.join(', ')}]`, indent, taken) ?? `[\n${filled(items, inner)}\n${indent}]`
    }
    const members = Object.entries(item as object)
    if (members.length === 0) return '{}'
    const [[key, only] = ['', null]] = members
    if (members.length === 1)
      return `{ ${JSON.stringify(key)}: ${printAt(only, indent, taken + JSON.stringify(key).length + 6)} }`
    const named = members.map(([name, one]) => {
      return `${JSON.stringify(name)}: ${printAt(one, inner, JSON.stringify(name).length + 3)}`
    })
    const separate = named.map((text) => `${inner}${text}`).join(',\n')
    return fitting(`{ ${named.join(', ')} }`, indent, taken) ?? `{\n${separate}\n${indent}}`
  }
  return `${printAt(value, '', 0)}\n`
}

const plainLeaf = (value: unknown): string | undefined =>
  typeof value !== 'object' || value === null ? JSON.stringify(value) : undefined

const fitting = (text: string, indent: string, taken: number): string | null =>
  !text.includes('\n') && indent.length + taken + text.length <= width ? text : null

/** A value without members that say nothing: null, false, and what is empty. */
export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, item]) => [key, withoutEmpty(item)] as const)
  return Object.fromEntries(members.filter(([, item]) => !isEmpty(item)))
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === false || (typeof value === 'object' && Object.keys(value).length === 0)
