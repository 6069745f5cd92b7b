/** The maximum length of a text in a message. */
const most = 400
/** The length of the common part that is shown before the first difference of two long texts. */
const before = 60

export const shortened = (text: string): string => (text.length > most ? `${text.slice(0, most)}...` : text)

/** Two different texts, cut so that the first difference is visible. */
export function apartTexts(a: string, b: string): readonly [string, string] {
  if (Math.max(a.length, b.length) <= most) return [a, b]
  const start = placeApart(a, b) - before
  const cut = (text: string): string => (start > 0 ? `...${shortened(text.slice(start))}` : shortened(text))
  return [cut(a), cut(b)]
}

function placeApart(a: string, b: string): number {
  let place = 0
  while (place < a.length && a[place] === b[place]) place += 1
  return place
}
