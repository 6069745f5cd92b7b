import { isOldNode, oldestNode } from './advise/doctor/oldest-node.ts'

/** Loaded first: an older Node fails later, with an unrelated message. */
const { node } = process.versions

if (isOldNode(node)) {
  process.stderr.write(`catalograph: Node ${node} is too old; use Node ${oldestNode} or newer\n`)
  process.exit(1)
}
