/**
 * Packs both packages, and prints how to install each in another folder: until they are published there is no other way.
 *
 * npm run pack [-- FOLDER]
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = new URL('..', import.meta.url).pathname
const folder = resolve(process.argv[2] ?? root)
mkdirSync(folder, { recursive: true })
const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder, '.', './runtime/client']
const packed = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
for (const { filename } of JSON.parse(packed)) console.log(`npm install ${join(folder, filename)}`)
