// Prints how fast the stand-in is: node test/demo/speed.mjs [built main.js]. Asserts nothing.
// `cold` asks for each annotation once (prepared or not), `kept` for a few of them again and again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Agent } from 'undici'

const CALLS = 20_000
const IN_FLIGHT = 64
const WORLD = ['--organizations', '20', '--documents', '50', '--annotations', '20']

const built =
  process.argv[2] ?? fileURLToPath(new URL('../../dist/src/demo/main.js', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'stand-in-speed-'))
const catalog = join(folder, 'catalog.ndjson')

for (const flags of [['--no-shuffle'], [], ['--no-shuffle', '--prepare']]) {
  const more = ['--comments', '10', '--no-skew', '--exit-with-stdin', '--catalog', catalog]
  const child = spawn(process.execPath, [built, ...WORLD, ...more, ...flags], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  const started = JSON.parse(line)
  const lines = (await readFile(catalog, 'utf8')).trimEnd().split('\n')
  const bodies = lines.filter((one) => one.includes('annotationId')).map((one) => `{"data":${one}}`)
  for (const [pass, asked] of [
    ['cold', bodies],
    ['kept', bodies.slice(0, 1000)],
    ['kept', bodies.slice(0, 1000)],
  ]) {
    console.log(
      JSON.stringify({ pass, flags: flags.join(' '), ...(await measure(started, asked)) }),
    )
  }
  child.kill()
  await once(child, 'exit')
}
await rm(folder, { recursive: true })

async function measure({ url, apiKey, authToken, controlUrl }, bodies) {
  const agent = new Agent({ connections: IN_FLIGHT })
  const request = {
    origin: new URL(url).origin,
    path: '/v1/commentannotations/comments/get',
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
    },
  }
  const before = await (await fetch(controlUrl)).json()
  const startMs = performance.now()
  let made = 0
  let receivedBytes = 0
  let failed = 0
  const ask = async () => {
    while (made < CALLS) {
      const answer = await agent.request({ ...request, body: bodies[made++ % bodies.length] })
      receivedBytes += (await answer.body.arrayBuffer()).byteLength
      if (answer.statusCode !== 200) failed++
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, ask))
  const tookMs = performance.now() - startMs
  const after = await (await fetch(controlUrl)).json()
  await agent.close()
  return {
    failed,
    callsPerSecond: Math.round((CALLS * 1000) / tookMs),
    callsPerCpuSecond: Math.round((CALLS * 1000) / (after.cpuMs - before.cpuMs)),
    bytesPerAnswer: Math.round(receivedBytes / CALLS),
    standInMemoryMiB: Math.round(after.memoryBytes / 2 ** 20),
  }
}
