/** A value within the text of an array or object. */
export interface ValueInText {
  /** The member's name, unescaped; null in an array. */
  readonly name: string | null
  /** Where its text begins and ends, in UTF-16 units; blanks around it included. */
  readonly start: number
  readonly end: number
}

/**
 * The values directly within a JSON array or object, in order, members with the same name too. It works without recursion,
 * so that no depth of nesting can end it.
 * @param text valid JSON of an array or object
 */
export function valuesIn(text: string): ValueInText[] {
  const values: ValueInText[] = []
  const marks = /["[\]{},:]/g
  let depth = 0
  let start = 0
  let name: string | null = null
  const add = (end: number) => {
    if (values.length > 0 || name !== null || text.slice(start, end).trim() !== '')
      values.push({ name, start, end })
    name = null
    start = end + 1
  }
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const at = mark.index
    const sign = text[at]
    if (sign === '"') marks.lastIndex = endOfString(text, at)
    else if (sign === '[' || sign === '{') {
      depth += 1
      if (depth === 1) start = at + 1
    } else if (sign === ']' || sign === '}') {
      depth -= 1
      if (depth === 0) add(at)
    } else if (depth === 1 && sign === ',') add(at)
    else if (depth === 1) {
      name = JSON.parse(text.slice(start, at)) as string
      start = at + 1
    }
  }
  return values
}

/**
 * The text with every array and object below a depth emptied: what a parser with recursion can read.
 * @param text valid JSON
 * @param depthMax containers within each other that are kept, the outermost included
 */
export function cutBelow(text: string, depthMax: number): string {
  const kept: string[] = []
  const marks = /["[\]{}]/g
  let depth = 0
  let from = 0
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const at = mark.index
    const sign = text[at]
    if (sign === '"') marks.lastIndex = endOfString(text, at)
    else if (sign === '[' || sign === '{') {
      depth += 1
      if (depth === depthMax + 1) kept.push(text.slice(from, at + 1))
    } else {
      if (depth === depthMax + 1) from = at
      depth -= 1
    }
  }
  kept.push(text.slice(from))
  return kept.join('')
}

/** @returns the position after the closing quote of the string that begins at `at` */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end + 1
  }
  return text.length
}
