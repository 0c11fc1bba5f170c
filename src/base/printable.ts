/** What steers a terminal, begins a line or turns the order of what is read: C0, C1, line separators, bidi controls. */
const STEERING = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/**
 * A text of others, made safe to show: what would steer a terminal or forge a line stands there as an escape, such as
 * `\u001b`. In a JSON text, a parser reads the same value.
 * @param kept characters that pass as they are, such as the line feeds of a text of ours
 */
export function printable(text: string, kept = ''): string {
  return text.replace(STEERING, (found) =>
    kept.includes(found) ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
