export type ArrayItem = string | null | readonly ArrayItem[]

/** An array literal (PostgreSQL manual 8.15.2): every element is quoted, so that no text has a special meaning. */
export const arrayText = (items: readonly ArrayItem[]): string => `{${items.map(itemText).join(',')}}`

function itemText(item: ArrayItem): string {
  if (item === null) return 'NULL'
  return typeof item === 'string' ? `"${item.replace(/["\\]/g, '\\$&')}"` : arrayText(item)
}
