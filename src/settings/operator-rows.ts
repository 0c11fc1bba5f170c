import * as parse from './parse.ts'
import { inGroup } from './setting.ts'

/** How operators and their programs reach `serve`. */
export const HTTP_ROWS = inGroup('http', {
  httpHost: {
    name: 'HTTP_HOST',
    parse: parse.hostName,
    default: '127.0.0.1',
    meaning: 'Address on which `serve` listens. Other machines can connect only with HTTP_TOKEN.',
    example: '0.0.0.0',
  },
  httpPort: {
    name: 'HTTP_PORT',
    parse: parse.wholeNumber(0, 65_535),
    default: '8080',
    meaning: 'Port of `serve`; 0 selects a free one.',
  },
  httpToken: {
    name: 'HTTP_TOKEN',
    parse: parse.accessToken,
    meaning:
      'Token that users and programs send to `serve`. A token that is easy to guess is refused: one with few different characters, a repeated pattern or a sequence. If it is not set, `serve` accepts connections from this machine only.',
    example: 'the-output-of-openssl-rand-hex-32',
    command: 'openssl rand -hex 32',
    secret: true,
  },
  httpTrustedProxies: {
    name: 'HTTP_TRUSTED_PROXIES',
    parse: parse.addressRanges,
    default: '127.0.0.0/8 ::1',
    meaning:
      'Addresses of proxies in front of `serve` whose X-Forwarded-For is trusted, separated by spaces.',
    example: '10.0.0.0/8 2001:db8::/32',
  },
  httpBasePath: {
    name: 'HTTP_BASE_PATH',
    parse: parse.basePath,
    meaning:
      'Path under which a proxy serves `serve`. The proxy may remove it from requests or leave it.',
    example: '/collab-sync',
  },
  httpKeepAliveS: {
    name: 'HTTP_KEEP_ALIVE_S',
    parse: parse.wholeNumber(1, 86_400),
    default: '650',
    meaning:
      'Seconds until `serve` closes an idle connection. Must be longer than the idle timeout of the load balancer in front of it, which otherwise sometimes returns 502.',
  },
})

/** What a worker reports to Prometheus and OpenTelemetry. */
export const TELEMETRY_ROWS = inGroup('telemetry', {
  logLevel: {
    name: 'LOG_LEVEL',
    parse: parse.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    meaning: 'Lowest level that is logged to stderr.',
  },
  metricsPort: {
    name: 'METRICS_PORT',
    parse: parse.wholeNumber(0, 65_535),
    meaning:
      'Port on which a worker serves its own /metrics for Prometheus; 0 selects a free one. If it is not set, a worker serves no metrics.',
    example: '9464',
  },
  metricsHost: {
    name: 'METRICS_HOST',
    parse: parse.hostName,
    default: '127.0.0.1',
    meaning:
      'Address on which a worker listens for METRICS_PORT. The metrics require no token: only Prometheus should reach it.',
    example: '0.0.0.0',
  },
  traces: {
    name: 'TRACES',
    parse: parse.flag,
    default: '0',
    meaning:
      '1 creates OpenTelemetry spans for runs, jobs and commits. An instrumentation that `node --import` loads exports them.',
    example: '1',
  },
})

/** What operators are notified of, and when. */
export const NOTIFY_ROWS = inGroup('notify', {
  notifyUrls: {
    name: 'NOTIFY_URL',
    parse: parse.receivers,
    meaning:
      'Addresses that are notified when a problem needs a person, and when it is resolved, separated by spaces. Each receives a POST; slack+https:// and teams+https:// select the formats of Slack and Teams. #events= behind an address selects the types of its messages (docs/OPERATING.md), such as #events=run.finished. heartbeat+https:// is pinged after each nightly run. http:// works for a receiver on this machine (localhost, 127.0.0.1), and for others with COLLAB_ALLOW_HTTP=1. Set the same value for all workers and `serve`.',
    example:
      'https://alerts.example.com/collab slack+https://hooks.slack.com/services/T0/B0/secret',
    secret: true,
  },
  notifySecret: {
    name: 'NOTIFY_SECRET',
    parse: parse.signingSecret,
    meaning:
      'Secret that signs messages to NOTIFY_URL (Standard Webhooks). NOTIFY_URL needs it if a receiver is neither Slack nor Teams nor a heartbeat.',
    command: 'echo whsec_$(openssl rand -base64 32)',
    secret: true,
  },
  httpPublicUrl: {
    name: 'HTTP_PUBLIC_URL',
    parse: parse.baseAddress,
    meaning:
      'Address under which users open the pages of `serve`. Notifications then link to the page that shows the problem or the run. Its path must be HTTP_BASE_PATH. Set the same value for all workers and `serve`.',
    example: 'https://sync.example.com/collab-sync',
  },
  nightlyLateAfterMs: {
    name: 'NIGHTLY_LATE_AFTER',
    parse: parse.duration,
    default: '30m',
    meaning:
      'Delay after which a nightly run that has not started is reported. A run that takes more than 1.5 times as long as usual is reported after the same delay.',
  },
})
