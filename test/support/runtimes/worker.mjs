import { env } from 'cloudflare:workers'
import artifacts from './artifacts.json'
import { createApp } from './app.mjs'

export default { fetch: createApp(artifacts, JSON.parse(env.APP), false) }
