/** Reads Server-Sent Events (HTML standard, section 9.2.6). */

export interface StreamEvent {
  readonly type: string
  readonly data: string
  /** The last sent one, with this event or before. */
  readonly id: string
}

/** Takes the text in pieces of any length, and calls `hear` with each event, and `beat` with each line. */
export function createEventReader(hear: (event: StreamEvent) => void): (piece: string) => void {
  let rest = ''
  let [type, id, data]: [string, string, string[]] = ['', '', []]
  const fields: Readonly<Record<string, (value: string) => void>> = {
    event: (value) => (type = value),
    data: (value) => data.push(value),
    id: (value) => (id = value),
  }
  const dispatch = (): void => {
    const event = { type: type || 'message', data: data.join('\n'), id }
    const isEvent = data.length > 0 || type !== ''
    ;[type, data] = ['', []]
    if (isEvent) hear(event)
  }
  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') dispatch()
      const [, name = '', value = ''] = /^([^:]*)(?::[ ]?(.*))?$/s.exec(line) ?? []
      if (Object.hasOwn(fields, name)) fields[name]?.(value)
    }
  }
}
