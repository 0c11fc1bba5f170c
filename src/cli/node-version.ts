/**
 * Imported before everything else, because older versions of Node.js fail in other modules with messages that do not name the
 * cause. It uses only what they have.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`collab-sync needs Node.js 20.19 or newer; this is ${process.version}.\n`)
  process.exit(2)
}
