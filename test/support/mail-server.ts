import { createServer, type AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A real SMTP server on loopback, whose moods a test chooses. */
export interface MailServer {
  readonly url: string
  readonly received: readonly ReceivedMail[]
  /** What it does with mails from now on; `slow` never answers the data. */
  readonly behave: (mood: Mood) => void
  readonly stop: () => Promise<void>
}

export type Mood = 'accept' | 'refuse' | 'slow' | 'down'

export interface ReceivedMail {
  readonly from: string
  readonly recipients: readonly string[]
  /** Header and body as they came, with lines joined and quoted-printable undone. */
  readonly text: string
  readonly head: string
  readonly url: string
  readonly code: string
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })

const plain = (raw: string): string =>
  raw.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(parseInt(hex, 16)))

function read(raw: string, from: string, recipients: readonly string[]): ReceivedMail {
  const text = plain(raw)
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'))
  const url = (/href="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&')
  return { from, recipients, text, head, url, code: /<strong>(\d{6})<\/strong>/.exec(text)?.[1] ?? '' }
}

export async function startMailServer(): Promise<MailServer> {
  const port = await freePort()
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
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    behave: (next) => {
      mood = next
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
