import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A real SMTP server on loopback, whose moods a test chooses. */
export interface MailServer {
  readonly url: string
  readonly received: readonly ReceivedMail[]
  /** Its treatment of later mails; `slow` never answers the data, `later` asks for another attempt. */
  readonly behave: (mood: Mood) => void
  readonly stop: () => Promise<void>
}

export type Mood = 'accept' | 'refuse' | 'later' | 'slow' | 'down'

export interface ReceivedMail {
  readonly from: string
  readonly recipients: readonly string[]
  readonly head: string
  /** The parts of multipart/alternative in their order, by media type, as anyone who reads them sees them. */
  readonly parts: Readonly<Record<string, string>>
  readonly html: string
  readonly text: string
  readonly url: string
  readonly code: string
}

/** RFC 2045 section 6, for the encodings that are met. */
const decoders: Readonly<Record<string, (raw: string) => string>> = {
  '7bit': (raw) => raw,
  base64: (raw) => Buffer.from(raw, 'base64').toString('utf8'),
  'quoted-printable': (raw) => {
    const joined = raw.replace(/=\r\n/g, '')
    const bytes = joined.replace(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    return Buffer.from(bytes, 'latin1').toString('utf8')
  },
}

const headAndBody = (raw: string): readonly [string, string] => {
  const at = raw.indexOf('\r\n\r\n')
  return [raw.slice(0, at), raw.slice(at + 4)]
}

/** RFC 2046 section 5.1, without parts in parts. */
function partsOf(head: string, body: string): Readonly<Record<string, string>> {
  const boundary = /^Content-Type: multipart\/alternative;\s+boundary="([^"]+)"/m.exec(head)?.[1]
  if (boundary === undefined) throw new Error(`The mail has no alternatives:\n${head}`)
  const parts = body.split(`--${boundary}`).slice(1, -1)
  const entries = parts.map((part) => {
    const [partHead, partBody] = headAndBody(part)
    const type = /^Content-Type: ([^;\r]+)/m.exec(partHead)?.[1] ?? ''
    const encoding = /^Content-Transfer-Encoding: (.+)$/m.exec(partHead.replaceAll('\r', ''))?.[1] ?? '7bit'
    const decode = decoders[encoding]
    if (decode === undefined) throw new Error(`The mail is encoded as ${encoding}.`)
    return [type, decode(partBody).replaceAll('\r\n', '\n')] as const
  })
  return Object.fromEntries(entries)
}

function read(raw: string, from: string, recipients: readonly string[]): ReceivedMail {
  const [head, body] = headAndBody(raw)
  const parts = partsOf(head, body)
  const { 'text/html': html = '', 'text/plain': text = '' } = parts
  const url = (/href="([^"]+)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&')
  return { from, recipients, head, parts, html, text, url, code: /<strong>(\d{6})<\/strong>/.exec(html)?.[1] ?? '' }
}

export async function startMailServer(): Promise<MailServer> {
  const received: ReceivedMail[] = []
  let mood: Mood = 'accept'
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onConnect: (_session, done) => (mood === 'down' ? done(new Error('down')) : done()),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (mood === 'slow') return
        if (mood === 'later') return done(Object.assign(new Error('later'), { responseCode: 451 }))
        if (mood === 'refuse') return done(Object.assign(new Error('no'), { responseCode: 554 }))
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        received.push(
          read(
            Buffer.concat(chunks).toString('utf8'),
            from,
            rcptTo.map(({ address }) => address),
          ),
        )
        done()
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received,
    behave: (next) => {
      mood = next
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
