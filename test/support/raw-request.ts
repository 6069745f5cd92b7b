import { request, type IncomingHttpHeaders } from 'node:http'

export interface RawRequest {
  readonly method?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends the headers as they are, `Host` included, which `fetch` always makes itself. */
export function sendAsItIs(
  url: string,
  { method = 'GET', headers, body = '' }: RawRequest,
): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
