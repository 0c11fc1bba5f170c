/**
 * The text of a file in UTF-8 or in UTF-16, which Windows PowerShell writes. UTF-16 has a mark at its beginning or a NUL in
 * every second byte. Invalid bytes become U+FFFD.
 */
export function decodeText(bytes: Uint8Array): string {
  const isNulFrom = (first: number) =>
    bytes.length > 1 && bytes.every((byte, place) => place % 2 !== first || byte === 0)
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0)
  if (mark === 0xfffe || isNulFrom(1)) return new TextDecoder('utf-16le').decode(bytes)
  if (mark === 0xfeff || isNulFrom(0)) return new TextDecoder('utf-16be').decode(bytes)
  return new TextDecoder().decode(bytes)
}

/** Whether a header can carry a key or token: one or more characters of printable ASCII. */
export function isHeaderValue(value: string): boolean {
  return /^[\x20-\x7e]+$/.test(value)
}
