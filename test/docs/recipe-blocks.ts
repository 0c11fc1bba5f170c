import { fileText } from '../deploy/yaml-files.ts'

/** The code blocks of a section of docs/RECIPES.md in one language. */
export function recipeBlocks(heading: string, language: string): string[] {
  const section = fileText('docs/RECIPES.md').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  const blocks = [...(section ?? '').matchAll(/^```(\w+)\n([^]*?)^```$/gm)].flatMap(
    ([, name, text = '']) => (name === language ? [text] : []),
  )
  if (blocks.length === 0) throw new Error(`No block ${language} in ${heading}.`)
  return blocks
}

/** The text with another in place of one that it must contain. */
export function replaced(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`The recipe does not contain ${from}.`)
    return result.replaceAll(from, to)
  }, text)
}
