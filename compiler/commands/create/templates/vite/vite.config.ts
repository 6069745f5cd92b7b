import react from '@vitejs/plugin-react'
import { defineConfig, loadEnv } from 'vite'

const needed = ['PROJECT_URL', 'ANON_KEY']

// Only these two go to browsers.
export default defineConfig(({ mode }) => {
  const env = { ...loadEnv(mode, '.', needed), ...process.env }
  const missing = needed.filter((name) => !env[name])
  if (missing.length > 0) throw new Error(`${missing.join(' and ')}: set them in .env, or run vite by npm run dev`)
  const define = Object.fromEntries(needed.map((name) => [`import.meta.env.${name}`, JSON.stringify(env[name])]))
  return { plugins: [react()], define }
})
