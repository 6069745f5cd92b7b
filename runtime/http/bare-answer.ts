import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { openHeaders } from './cors.ts'
import { failureTable, HttpFailure, statusHeaders, type HttpFailureCode } from './failures.ts'

/** Converts a failure to the form that its most likely client expects. */
export type RenderBare = (failure: HttpFailure) => {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

export const renderPlainBare: RenderBare = ({ code, message }) => ({
  status: failureTable[code].status,
  headers: {},
  body: { code, message },
})

/** Status, headers and body of a failure that is answered without a reply object; the connection ends with it. */
export function bareAnswer(code: HttpFailureCode, render: RenderBare): BareAnswer {
  const { status, headers, body } = renderedOnce(code, render)
  return { status, headers: { ...headers, 'x-request-id': randomUUID() }, body }
}

/** The rendered answers: invalid requests may come by the thousand. */
const rendered = new WeakMap<RenderBare, Map<HttpFailureCode, BareAnswer>>()

function renderedOnce(code: HttpFailureCode, render: RenderBare): BareAnswer {
  const known = rendered.get(render) ?? new Map<HttpFailureCode, BareAnswer>()
  const answer = known.get(code) ?? renderAnswer(code, render)
  rendered.set(render, known.set(code, answer))
  return answer
}

function renderAnswer(code: HttpFailureCode, render: RenderBare): BareAnswer {
  const { status, headers, body: value } = render(new HttpFailure(code))
  const body = JSON.stringify(value)
  return {
    status,
    headers: {
      ...openHeaders,
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      ...statusHeaders(status),
      connection: 'close',
    },
    body,
  }
}

export interface BareAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The same as raw text, for a connection without a readable request. */
export function bareText(code: HttpFailureCode, render: RenderBare): string {
  const { status, headers, body } = bareAnswer(code, render)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}
