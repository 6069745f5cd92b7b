import { generateSync } from 'otplib'
import { decodeQR } from 'qr/decode.js'
import type { Answer, AuthServer } from './auth.ts'

/** An authenticator application, and a user who has one. */

/** The code of the time step so many steps from now. */
export const codeOf = (secret: string, steps = 0): string =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + steps * 30 })

export interface Enrolled {
  readonly id: string
  readonly secret: string
}

export async function enrol(server: AuthServer, token: string, more: object = {}): Promise<Enrolled> {
  const { status, body } = await server.call('POST', '/factors', { token, body: { factor_type: 'totp', ...more } })
  if (status !== 200) throw new Error(`Enrolment was refused: ${JSON.stringify(body)}`)
  return { id: body.id, secret: body.totp.secret }
}

export interface Attempt {
  readonly token: string
  readonly factor: Enrolled
  readonly code: string
  readonly headers?: Readonly<Record<string, string>>
}

export async function challenge(
  server: AuthServer,
  { token, factor, headers = {} }: Omit<Attempt, 'code'>,
): Promise<string> {
  return (await server.call('POST', `/factors/${factor.id}/challenge`, { token, headers })).body.id
}

/** A challenge of its own, and the answer to it. */
export async function verify(server: AuthServer, attempt: Attempt): Promise<Answer> {
  const challenge_id = await challenge(server, attempt)
  return answerChallenge(server, attempt, challenge_id)
}

export const answerChallenge = (
  server: AuthServer,
  { token, factor, code, headers = {} }: Attempt,
  challenge_id: string,
): Promise<Answer> =>
  server.call('POST', `/factors/${factor.id}/verify`, { token, headers, body: { challenge_id, code } })

/** The modules of a QR code, read from markup with one square path for each. */
export function readQrCode(svg: string): string {
  const size = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1])
  const scale = 4
  const data = new Uint8Array((size * scale) ** 2 * 4).fill(255)
  for (const { x, y } of modulesOf(svg)) {
    for (let pixel = 0; pixel < scale * scale; pixel += 1) {
      const [column, row] = [x * scale + (pixel % scale), y * scale + Math.floor(pixel / scale)]
      data.fill(0, (row * size * scale + column) * 4, (row * size * scale + column) * 4 + 3)
    }
  }
  return decodeQR({ width: size * scale, height: size * scale, data })
}

/** Squares begin at a place (M) or at a distance from where the one before began (m), and are closed (Z). */
function modulesOf(svg: string): readonly { readonly x: number; readonly y: number }[] {
  const path = / d="([^"]+)"/.exec(svg)?.[1] ?? ''
  let [x, y] = [0, 0]
  return [...path.matchAll(/([Mm])(-?\d+)[ ,]?(-?\d+)[^Mm]*/g)].map(([, command, across, down]) => {
    const from = command === 'M' ? { x: 0, y: 0 } : { x, y }
    ;[x, y] = [from.x + Number(across), from.y + Number(down)]
    return { x, y }
  })
}
