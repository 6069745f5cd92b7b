/** Loaded before all else: an older Node fails later, and with words that say nothing of it. */
const oldest = 20

if (Number.parseInt(process.versions.node, 10) < oldest) {
  process.stderr.write(`catalograph: Node ${process.versions.node} is too old; use Node ${oldest} or newer\n`)
  process.exit(1)
}
