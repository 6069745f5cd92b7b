/** The maximum size of a provider's answer: its documents have a few kilobytes. */
const largestAnswer = 262_144

type Ask = (url: string, init: RequestInit) => Promise<Response>

/** fetch for servers of others: rejects an answer beyond the maximum size without reading it to its end. */
export const boundedFetch: Ask = async (url, init) => {
  const response = await fetch(url, init)
  if (response.body === null) return response
  const { status, headers } = response
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop by an error ends the connection.
  for await (const chunk of response.body) {
    length += chunk.byteLength
    if (length > largestAnswer) throw new TypeError(`The answer of ${new URL(url).host} is too large.`)
    chunks.push(chunk)
  }
  return new Response(Buffer.concat(chunks), { status, headers: withoutEncoding(headers) })
}

/** The body is decoded already. */
function withoutEncoding(headers: Headers): Headers {
  const kept = new Headers(headers)
  kept.delete('content-encoding')
  kept.delete('content-length')
  return kept
}
