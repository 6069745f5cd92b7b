interface ImportMetaEnv {
  readonly PROJECT_URL: string
  readonly ANON_KEY: string
}
