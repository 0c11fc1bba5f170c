import * as parse from './parse.ts'
import { inGroup } from './setting.ts'

/** How operators and their programs reach `serve`. */
export const HTTP_ROWS = inGroup('http', {
  httpHost: {
    name: 'HTTP_HOST',
    parse: parse.hostName,
    default: '127.0.0.1',
    meaning: 'Where `serve` listens; beyond this machine only with HTTP_TOKEN.',
    example: '0.0.0.0',
  },
  httpPort: {
    name: 'HTTP_PORT',
    parse: parse.wholeNumber(0, 65_535),
    default: '8080',
    meaning: 'Port of `serve`; 0 takes a free one.',
  },
  httpToken: {
    name: 'HTTP_TOKEN',
    parse: parse.accessToken,
    meaning:
      'What people and programs show to `serve`, 16 characters or more. Without it this machine alone is served.',
    example: 'the-output-of-openssl-rand-hex-32',
    secret: true,
  },
  httpTrustedProxies: {
    name: 'HTTP_TRUSTED_PROXIES',
    parse: parse.addressRanges,
    default: '127.0.0.0/8 ::1',
    meaning:
      'Addresses of proxies before `serve` that say in X-Forwarded-For whose request it is, with spaces between. Nobody else is believed.',
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
      'Seconds until `serve` closes an idle connection. Must be longer than the idle timeout of the load balancer before it, which otherwise answers 502 now and then.',
  },
})

/** What a worker tells Prometheus and OpenTelemetry. */
export const TELEMETRY_ROWS = inGroup('telemetry', {
  metricsPort: {
    name: 'METRICS_PORT',
    parse: parse.wholeNumber(0, 65_535),
    meaning:
      'Port on which a worker serves its own /metrics for Prometheus; 0 takes a free one. Without it none.',
    example: '9464',
  },
  metricsHost: {
    name: 'METRICS_HOST',
    parse: parse.hostName,
    default: '127.0.0.1',
    meaning:
      'Where a worker listens on METRICS_PORT. Its numbers ask for no token: let nobody but Prometheus reach it.',
    example: '0.0.0.0',
  },
  traces: {
    name: 'TRACES',
    parse: parse.flag,
    default: '0',
    meaning:
      '1 gives runs, jobs and commits spans of OpenTelemetry, for what `node --import` has registered to send.',
    example: '1',
  },
})

/** What operators are notified of, and when. */
export const NOTIFY_ROWS = inGroup('notify', {
  notifyUrls: {
    name: 'NOTIFY_URL',
    parse: parse.receivers,
    meaning:
      'Who is notified when something needs a person, and when it is well again: addresses that take a POST, with spaces between; slack+https:// and teams+https:// for these two. The same for all workers and `serve`.',
    example:
      'https://alerts.example.com/collab slack+https://hooks.slack.com/services/T0/B0/secret',
    secret: true,
  },
  notifySecret: {
    name: 'NOTIFY_SECRET',
    parse: parse.signingSecret,
    meaning:
      'What messages to NOTIFY_URL are signed with (Standard Webhooks): whsec_ and the output of openssl rand -base64 32.',
    example: 'whsec_bm90IGEgc2VjcmV0IGJ1dCBhbiBleGFtcGxlIQ==',
    secret: true,
  },
  freshnessPromiseMs: {
    name: 'FRESHNESS_PROMISE',
    parse: parse.duration,
    default: '26h',
    meaning:
      'Every scope of the catalog is checked well at least so often, such as 75s, 26h or 7d; what is not is stale, and people are told. migrate stores it, the same for all processes.',
  },
  changeTargetMs: {
    name: 'CHANGE_TARGET',
    parse: parse.duration,
    default: '1h',
    meaning:
      'Within which a change should be seen: reported only. migrate stores it, the same for all processes.',
  },
  nightlyLateAfterMs: {
    name: 'NIGHTLY_LATE_AFTER',
    parse: parse.duration,
    default: '30m',
    meaning:
      'How long after its time a nightly run may begin, and how far beyond half as long again as usual it may take, before somebody is notified.',
  },
})
