import { SETTING_LIST } from './table.ts'
import type { Setting, SettingGroup } from './setting.ts'

const HEADINGS: Record<SettingGroup, string> = {
  service: 'The service',
  database: 'PostgreSQL',
  queue: 'The queue (BullMQ)',
  http: 'The HTTP side (collab-sync serve)',
  sync: 'How to sync',
  signals: 'Metrics and traces',
  notify: 'Telling people',
  catalog: 'The catalog, from a query of yours (otherwise: collab-sync catalog import FILE)',
}

/** The text of `.env.example`: every setting with its meaning; what must be set is not commented out. */
export function envExample(): string {
  const groups = Object.entries(HEADINGS).map(([group, heading]) => {
    const settings = SETTING_LIST.filter(({ setting }) => setting.group === group)
    return [`# --- ${heading} ---`, ...settings.map(({ setting }) => entry(setting))].join('\n\n')
  })
  return (
    [
      '# Copy this file to .env and fill in the first settings. The environment wins over this file.',
      ...groups,
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  )
}

function entry(setting: Setting): string {
  const mark = NOT_COMMENTED_OUT.has(setting.name) ? '' : '# '
  const fallback = setting.default === undefined ? '' : ` Default: ${setting.default}`
  const value = quoted(setting.default ?? setting.example)
  return `# ${setting.meaning}${fallback}\n${mark}${setting.name}=${value}`
}

const NOT_COMMENTED_OUT = new Set(['COLLAB_API_URL', 'COLLAB_API_KEY', 'COLLAB_AUTH_TOKEN'])

function quoted(value: string): string {
  return /\s/.test(value) && !value.startsWith('"') ? `"${value}"` : value
}
