import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

// Bundles the package into dist/, with the few pure functions that it shares with the product. Run by `npm run build`.

const built = new URL('dist/', import.meta.url)

await rm(built, { recursive: true, force: true })
const bundle = await rolldown({
  input: fileURLToPath(new URL('command.ts', import.meta.url)),
  platform: 'node',
  external: /^[^./]/,
  onLog: (level, log) => {
    if (level === 'warn') throw new Error(`the reference interpreter cannot be bundled: ${log.message}`)
  },
})
await bundle.write({ dir: fileURLToPath(built), format: 'es' })
await bundle.close()
