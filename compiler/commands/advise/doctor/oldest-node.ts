/** The first version of Node that can load all packages for serving; also in `engines` of package.json. */
export const oldestNode = '20.19'

const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number)

/** @param version as in process.versions.node, such as 20.20.2 */
export function isOldNode(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
}
