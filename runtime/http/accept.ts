interface MediaRange {
  readonly range: string
  readonly quality: number
  readonly position: number
}

/**
 * The offered media type that the client prefers, or null if it accepts none (RFC 9110 section 12.5.1). The first offer
 * is the default for a missing header and for `*` ranges. Among equals the one that the client names first wins.
 */
export function negotiate<const M extends string>(accept: string | undefined, offers: readonly M[]): M | null {
  const first = offers[0] ?? null
  if (accept === undefined || accept.trim() === '' || accept === '*/*') return first
  const ranges = accept.split(',').map(readRange)
  const wanted = offers
    .map((offer) => ({ offer, match: mostSpecific(ranges, offer) }))
    .filter(({ match }) => match !== null && match.quality > 0)
    .sort((a, b) => compareMatches(a.match, b.match))
  return wanted[0]?.offer ?? null
}

function readRange(text: string, position: number): MediaRange {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice(2))
  return { range, quality: quality >= 0 && quality <= 1 ? quality : 0, position }
}

function mostSpecific(ranges: readonly MediaRange[], offer: string): MediaRange | null {
  const family = `${offer.slice(0, offer.indexOf('/'))}/*`
  const find = (wanted: string): MediaRange | undefined => ranges.find(({ range }) => range === wanted)
  return find(offer) ?? find(family) ?? find('*/*') ?? null
}

function compareMatches(a: MediaRange | null, b: MediaRange | null): number {
  if (a === null || b === null) return 0
  return b.quality - a.quality || a.position - b.position
}
