/** The first version of Node that can load every package that serving uses; `engines` of package.json names it, too. */
export const oldestNode = '20.19'

const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number)

/** @param version as process.versions.node has it, such as 20.20.2 */
export function isOldNode(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
}
