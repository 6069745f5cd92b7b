import { isOldNode, oldestNode } from '../advise/doctor/oldest-node.ts'

/** Loaded before all else: an older Node fails later, and with words that say nothing of it. */
const { node } = process.versions

if (isOldNode(node)) {
  process.stderr.write(`catalograph: Node ${node} is too old; use Node ${oldestNode} or newer\n`)
  process.exit(1)
}
