/** A client of Server-Sent Events that keeps what it hears, event by event and as it was sent. */
export interface EventClient {
  readonly status: number
  readonly type: string
  /** For a body that is not an event stream. */
  readonly body: () => Promise<string>
  /** The next event; null: the stream ended. */
  readonly next: () => Promise<HeardEvent | null>
  /** The number of received events that were not taken yet. */
  readonly waiting: () => number
  readonly close: () => void
}

export interface HeardEvent {
  readonly id: string | null
  readonly event: string
  readonly data: string
}

export async function openEvents(
  url: string,
  request: object,
  headers: Readonly<Record<string, string>>,
): Promise<EventClient> {
  const leaving = new AbortController()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify(request),
    signal: leaving.signal,
  })
  const type = response.headers.get('content-type') ?? ''
  const events: HeardEvent[] = []
  let hasEnded = false
  let wake: () => void = () => undefined
  const read = async (): Promise<void> => {
    let text = ''
    try {
      for await (const piece of response.body ?? []) {
        text += Buffer.from(piece).toString()
        const whole = text.split('\n\n')
        text = whole.pop() ?? ''
        events.push(...whole.flatMap(readEvent))
        wake()
      }
    } catch {
      // The connection was ended, by either side.
    }
    hasEnded = true
    wake()
  }
  if (type.startsWith('text/event-stream')) void read()
  return {
    status: response.status,
    type,
    body: () => response.text(),
    next: async () => {
      while (events.length === 0 && !hasEnded) await new Promise<void>((resolve) => (wake = resolve))
      return events.shift() ?? null
    },
    waiting: () => events.length,
    close: () => leaving.abort(),
  }
}

function readEvent(text: string): readonly HeardEvent[] {
  const fields = text.split('\n').map((line): readonly [string, string] => {
    const [name = '', ...rest] = line.split(':')
    return [name, rest.join(':').replace(/^ /, '')]
  })
  const valuesOf = (name: string): readonly string[] =>
    fields.filter(([field]) => field === name).map(([, value]) => value)
  const [event] = valuesOf('event')
  if (event === undefined) return []
  return [{ event, id: valuesOf('id')[0] ?? null, data: valuesOf('data').join('\n') }]
}
