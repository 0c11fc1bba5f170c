import { hash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeShares, sharesOf, startProfile } from '../../src/cli/cpu-profile.ts'

/** A profile with one sample of each frame, so many microseconds long. */
function profileOf(frames: readonly { functionName: string; url: string; us: number }[]) {
  const nodes = frames.map(({ functionName, url }, index) => ({
    id: index + 1,
    callFrame: { functionName, url, scriptId: '0', lineNumber: 0, columnNumber: 0 },
  }))
  return {
    nodes,
    startTime: 0,
    endTime: 1,
    samples: nodes.map(({ id }) => id),
    timeDeltas: frames.map(({ us }) => us),
  }
}

describe('the shares of a profile', () => {
  test('are told by folder of ours, by package and by part of Node; waiting is none of them', () => {
    const shares = sharesOf(
      profileOf([
        { functionName: 'compare', url: 'file:///app/dist/src/sync/compare.js', us: 4000 },
        { functionName: 'commit', url: 'file:///app/dist/src/sync/commit.js', us: 1000 },
        { functionName: 'perform', url: 'file:///app/dist/jobs/sync-batch.js', us: 500 },
        { functionName: 'write', url: 'file:///app/node_modules/pg/lib/client.js', us: 2000 },
        {
          functionName: 'add',
          url: 'file:///app/node_modules/@scope/one/node_modules/two/index.js',
          us: 100,
        },
        { functionName: 'hash', url: '', us: 1000 },
        { functionName: '(garbage collector)', url: '', us: 1000 },
        { functionName: '(idle)', url: '', us: 90_000 },
        { functionName: 'writev', url: '', us: 400 },
      ]),
    )
    expect(shares.map(({ name, ms }) => [name, ms])).toEqual([
      ['collab-sync sync', 5],
      ['pg', 2],
      ['hashing', 1],
      ['garbage collection', 1],
      ['collab-sync sync-batch', 0.5],
      ['writing to sockets', 0.4],
      ['two', 0.1],
    ])
    expect(shares.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1)
    expect(describeShares(shares, 2)).toBe('collab-sync sync 50 % (5 ms), pg 20 % (2 ms)')
  })

  test('of a profile without samples are none', () => {
    expect(sharesOf(profileOf([]))).toEqual([])
  })
})

test('a profile of this process is written as a file that says where its time went', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'collab-sync-profile-'))
  try {
    const profile = await startProfile()
    const until = performance.now() + 50
    while (performance.now() < until) hash('sha256', Buffer.alloc(100_000))
    const file = join(directory, 'one.cpuprofile')
    const shares = await profile.stop(file)
    expect(shares.length).toBeGreaterThan(0)
    const written = JSON.parse(await readFile(file, 'utf8'))
    expect(written.samples.length).toBe(written.timeDeltas.length)
    expect(sharesOf(written)).toEqual(shares)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
