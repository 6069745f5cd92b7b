import { rmSync } from 'node:fs'
import { chdir } from 'node:process'
import { fileURLToPath } from 'node:url'
import Eleventy from '@11ty/eleventy'

// Builds docs/ into dist/docs, which the service serves at /docs with DOCS=on, and any static host. Run by `npm run docs`.

chdir(fileURLToPath(new URL('..', import.meta.url)))
rmSync('dist/docs', { recursive: true, force: true })
const site = new Eleventy('docs', 'dist/docs', { configPath: 'site/eleventy.config.mjs', quietMode: true })
await site.write()
