/** How much of a text a message shows. */
const most = 400
/** How much of what two long texts have in common is shown before the place where they part. */
const before = 60

export const shortened = (text: string): string => (text.length > most ? `${text.slice(0, most)}...` : text)

/** Two texts that differ, cut where they are long so that the place where they part can be seen. */
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
