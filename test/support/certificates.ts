import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unlessThere } from './programs.ts'

/** Certificates of a throw-away authority, made by the openssl command. */

const run = promisify(execFile)

/** A missing program that must be installed; null: none. */
export const noOpenssl = (): string | null => unlessThere('openssl', 'version')

const openssl = (folder: string, ...args: readonly string[]): Promise<unknown> => run('openssl', args, { cwd: folder })

/** Makes `name.crt` and `name.key`, self-signed. */
export const makeAuthority = (folder: string, name: string): Promise<unknown> =>
  openssl(
    folder,
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.crt`],
  )

/** Makes `name.crt` and `name.key` for a subject, signed by the authority of the same folder. */
export const makeCertificate = async (
  folder: string,
  authority: string,
  name: string,
  { subject, hosts }: { readonly subject: string; readonly hosts?: string },
): Promise<void> => {
  await openssl(
    folder,
    ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-subj', `/CN=${subject}`, '-keyout', `${name}.key`, '-out', `${name}.csr`],
  )
  const extensions = join(folder, `${name}.ext`)
  await writeFile(extensions, hosts === undefined ? '' : `subjectAltName=${hosts}\n`)
  await openssl(
    folder,
    ...['x509', '-req', '-days', '2', '-in', `${name}.csr`, '-CA', `${authority}.crt`, '-CAkey', `${authority}.key`],
    ...['-CAcreateserial', '-extfile', extensions, '-out', `${name}.crt`],
  )
}
