import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { App } from '../../src/worker/app.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { ownFolder } from '../helpers/own-folder.ts'
import { freePort } from '../helpers/servers.ts'
import { until } from '../helpers/until.ts'
import { BEARER, serveApp, TOKEN } from '../http/served.ts'
import { recipeBlocks, replaced } from './recipe-blocks.ts'

/** Recipes of docs/RECIPES.md that need a shell, curl, jq, Python, or Prometheus with its Alertmanager. */

const AFTER_A_RUN = 'dbt after a run'
const ALERTS = 'PagerDuty and e-mail'
const DEBIAN_ALERTMANAGER = 'prometheus-alertmanager'

const isMissing = (program: string): boolean =>
  spawnSync(program, ['--version']).error !== undefined

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content, { mode: 0o755 })
}

interface Exit {
  code: number
  stdout: string
  stderr: string
}

/** A program in a folder, with those of its `bin` before others. */
function runIn(folder: string, args: [string, ...string[]], env: object = {}): Promise<Exit> {
  const [program, ...rest] = args
  const path = `${join(folder, 'bin')}:${process.env['PATH']}`
  return new Promise((resolve) =>
    execFile(
      program,
      rest,
      { cwd: folder, env: { HOME: process.env['HOME'], ...env, PATH: path } },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    ),
  )
}

/** A program that a recipe calls; it appends its arguments to the file `calls`. */
function putStandIn(folder: string, name: string, code = 0): void {
  put(join(folder, 'bin', name), `#!/bin/sh\necho "${name} $*" >> calls\nexit ${code}\n`)
}

const callsIn = (folder: string): string[] =>
  readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')

test.each([
  [0, 0, ['collab-sync run', 'dbt build']],
  [3, 0, ['collab-sync run', 'dbt build']],
  [1, 1, ['collab-sync run']],
])('when a run exits with %i, the shell exits with %i', async (ofRun, expected, calls) => {
  const folder = ownFolder()
  putStandIn(folder, 'collab-sync', ofRun)
  putStandIn(folder, 'dbt')
  const [block = ''] = recipeBlocks(AFTER_A_RUN, 'sh')
  expect(await runIn(folder, ['sh', '-c', block])).toMatchObject({ code: expected })
  expect(callsIn(folder)).toEqual(calls)
})

describe('behind a run over HTTP', () => {
  let live: Live
  let app: App
  let environment: Record<string, string>
  let folder: string
  beforeAll(async () => {
    live = await openLoaded('postgres')
    app = await live.openApp()
    const { url } = await serveApp(app)
    environment = { SERVE_URL: url, SERVE_TOKEN: TOKEN }
  })
  beforeEach(async () => {
    await live.database.pool.query('truncate sync.runs cascade')
    folder = ownFolder()
    put(join(folder, 'sync-and-wait.sh'), recipeBlocks(AFTER_A_RUN, 'sh')[1] ?? '')
    put(join(folder, 'bin/sleep'), '#!/bin/sh\necho slept >> calls\nexec /bin/sleep 0.1\n')
  })

  const runs = () => live.rows('select run_id, status, request_key from sync.runs')

  async function cancelledRun(key: string): Promise<void> {
    const post = async (path: string, headers = {}) => {
      const init = { method: 'POST', headers: { ...BEARER, ...headers } }
      const response = await fetch(`${environment['SERVE_URL']}${path}`, init)
      expect(response.status).toBe(202)
      return (await response.json()) as { runId: string }
    }
    const { runId } = await post('/v1/runs', { 'idempotency-key': key })
    await post(`/v1/runs/${runId}/cancel`)
  }

  describe.skipIf(isMissing('curl') || isMissing('jq'))('the script', () => {
    const sync = (key: string, env: object = environment) =>
      runIn(folder, ['sh', 'sync-and-wait.sh', key], env)

    test('waits for the end of the run, and starts none for a key that it has used', async () => {
      const first = sync('a key')
      await until('it waits', () => {
        try {
          return callsIn(folder).length > 1
        } catch {
          return false
        }
      })
      await live.openWorker()
      expect(await first).toEqual({ code: 0, stdout: '', stderr: '' })
      expect(await sync('a key')).toMatchObject({ code: 0 })
      expect(await runs()).toMatchObject([{ status: 'succeeded' }])
    })

    test('fails, with the reason, if the run was cancelled or the token is wrong', async () => {
      await cancelledRun('cancelled')
      const { code, stderr } = await sync('cancelled')
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^cancelled\n./) })
      const wrong = { ...environment, SERVE_TOKEN: 'wrong' }
      expect(await sync('wrong', wrong)).toMatchObject({ code: 22, stderr: /401/ })
      expect(await runs()).toHaveLength(1)
    })

    test('is run by the workflow before dbt, with a key of the attempt', async () => {
      putStandIn(folder, 'dbt')
      const [yaml = ''] = recipeBlocks('GitHub Actions after a run', 'yaml')
      const { on, jobs } = parse(yaml)
      expect(Object.keys(on)).toEqual(['schedule', 'workflow_dispatch'])
      const [, step, build, ...more] = jobs.build.steps
      expect(more).toEqual([])
      expect(step.env).toEqual({
        SERVE_URL: '${{ vars.SERVE_URL }}',
        SERVE_TOKEN: '${{ secrets.SERVE_TOKEN }}',
      })
      const github = { ...environment, GITHUB_RUN_ID: '17', GITHUB_RUN_ATTEMPT: '2' }
      const worker = await live.openWorker()
      // Each step is a file, run as GitHub does without `shell`.
      for (const { run } of [step, build])
        expect(await runIn(folder, ['bash', '-e', '-c', run], github)).toMatchObject({ code: 0 })
      await worker.stop()
      expect(callsIn(folder).at(-1)).toBe('dbt build')
      expect(JSON.stringify(await runs())).toContain('github-17-2')
    })
  })

  describe.skipIf(isMissing('python3'))('the DAG of Airflow', () => {
    /** Keeps what the DAG file declares, and runs one task of it by name. */
    const AIRFLOW = `
import json, sys
tasks, edges = {}, []
class Node:
    def __init__(self, name, function): self.name, self.function = name, function
    def __call__(self, *given):
        edges.extend((each.name, self.name) for each in given)
        return self
class Task:
    def __call__(self, function): return self._add(function)
    def _add(self, function):
        tasks[function.__name__] = Node(function.__name__, function)
        return tasks[function.__name__]
    def sensor(self, *, poke_interval, timeout, mode): return self._add
task = Task()
def dag(*, schedule, start_date, catchup, default_args): return lambda function: function
`
    const MAIN = `
import json, sys
import dag
from airflow.sdk import tasks, edges
from airflow.exceptions import AirflowFailException
name, *given = sys.argv[1:]
try: print(json.dumps({"edges": edges} if name == "edges" else tasks[name].function(*given)))
except AirflowFailException as error: sys.exit(f"failed: {error}")
`
    beforeEach(() => {
      put(join(folder, 'dag.py'), recipeBlocks('Airflow after a run', 'python')[0] ?? '')
      put(join(folder, 'main.py'), MAIN)
      put(join(folder, 'airflow/sdk.py'), AIRFLOW)
      put(join(folder, 'airflow/exceptions.py'), 'class AirflowFailException(Exception): pass\n')
    })
    const execute = (...args: string[]) =>
      runIn(folder, ['python3', 'main.py', ...args], environment)
    async function result(...args: string[]): Promise<any> {
      const { code, stdout, stderr } = await execute(...args)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return JSON.parse(stdout)
    }

    test('starts one run for each of its own, and waits until it has ended', async () => {
      const { edges } = await result('edges')
      expect(edges).toEqual([['start', 'finished']])
      const id = await result('start', 'scheduled__2026-11-29T03:30:00+00:00')
      expect(await result('start', 'scheduled__2026-11-29T03:30:00+00:00')).toBe(id)
      expect(await result('finished', id)).toBe(false)
      const worker = await live.openWorker()
      await until('the run has ended', () => result('finished', id))
      await worker.stop()
      expect(await runs()).toMatchObject([{ run_id: id, status: 'succeeded' }])
    })

    test('fails without a retry if the run was cancelled', async () => {
      await cancelledRun('manual__1')
      const id = await result('start', 'manual__1')
      const { code, stderr } = await execute('finished', id)
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^failed: ./) })
    })
  })
})

describe('alerts', () => {
  test.skipIf(isMissing('promtool'))('Prometheus accepts its configuration', () => {
    const folder = ownFolder()
    put(join(folder, 'prometheus.yml'), recipeBlocks(ALERTS, 'yaml')[0] ?? '')
    const args = ['check', 'config', '--syntax-only', 'prometheus.yml']
    expect(spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' })).toMatchObject({
      status: 0,
    })
  })

  test.skipIf(isMissing(DEBIAN_ALERTMANAGER))(
    'Alertmanager sends each to a mail server, and urgent ones to PagerDuty',
    async () => {
      const folder = ownFolder()
      const mails = await startMailServer()
      const pages: any[] = []
      const pagerduty = createHttpServer(async (request, response) => {
        pages.push(JSON.parse(await text(request)))
        response.writeHead(202).end('{}')
      }).listen(0, '127.0.0.1')
      await once(pagerduty, 'listening')
      closedAtEnd(async () => void pagerduty.close())
      const config = replaced(recipeBlocks(ALERTS, 'yaml')[1] ?? '', [
        ['group_by:', 'group_wait: 0s\n  group_by:'],
        ['smtp.example.com:587', `127.0.0.1:${mails.port}`],
        ['auth_username: alertmanager', 'require_tls: false'],
        ['        auth_password_file: /run/secrets/smtp-password\n', ''],
        ['/run/secrets/pagerduty-key', join(folder, 'key')],
        [
          '        description:',
          `        url: http://127.0.0.1:${(pagerduty.address() as AddressInfo).port}/\n        description:`,
        ],
      ])
      put(join(folder, 'key'), 'the-key')
      put(join(folder, 'alertmanager.yml'), config)
      const port = await freePort()
      const address = `http://127.0.0.1:${port}`
      const listen = [`--web.listen-address=127.0.0.1:${port}`, '--cluster.listen-address=']
      const files = ['--config.file=alertmanager.yml', '--storage.path=data']
      const child = spawn(DEBIAN_ALERTMANAGER, [...files, ...listen], {
        cwd: folder,
        stdio: 'ignore',
      })
      closedAtEnd(async () => {
        if (child.exitCode !== null) return
        child.kill('SIGKILL')
        await once(child, 'exit')
      })
      const isReady = () =>
        fetch(`${address}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        )
      await until('Alertmanager is ready', isReady)
      const alerts = ['page', 'ticket'].map((severity) => ({
        labels: { alertname: `A ${severity}`, severity },
        annotations: { summary: `Summary of the ${severity}.`, action: 'Do this.' },
      }))
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
      const body = JSON.stringify(alerts)
      expect(await fetch(`${address}/api/v2/alerts`, { ...init, body })).toMatchObject({ ok: true })
      await until('both mails are sent', () => mails.received.length === 2)
      const sent = mails.received.join('\n')
      for (const { annotations } of alerts) expect(sent).toContain(annotations.summary)
      expect(sent).toContain('Do this.')
      await until('the page is sent', () => pages.length > 0)
      expect(pages).toMatchObject([
        {
          routing_key: 'the-key',
          event_action: 'trigger',
          payload: { summary: 'Summary of the page.', custom_details: { action: 'Do this.' } },
        },
      ])
    },
  )

  /** Accepts each mail and keeps it. */
  async function startMailServer() {
    const received: string[] = []
    const server = createServer((socket) => {
      let mail: string | null = null
      socket.on('error', () => {})
      socket.write('220 mail\r\n')
      socket.on('data', (part) => {
        const said = part.toString()
        if (mail === null) {
          if (/^DATA/i.test(said)) mail = ''
          if (/^QUIT/i.test(said)) return socket.end('221 bye\r\n')
          return socket.write(mail === null ? '250 mail\r\n' : '354 go\r\n')
        }
        mail += said
        if (!mail.endsWith('\r\n.\r\n')) return
        received.push(mail.replaceAll('=\r\n', ''))
        mail = null
        socket.write('250 kept\r\n')
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closedAtEnd(async () => void server.close())
    return { port: (server.address() as AddressInfo).port, received }
  }
})
