import type pg from 'pg'

/** How a plan reads its tables, each once: `comments by comments_pkey, annotations whole`. */
export async function planOf(client: pg.Client, sql: string): Promise<string> {
  const { rows } = await client.query(`explain (format json) ${sql}`)
  const reads = new Set<string>()
  collect(rows[0]['QUERY PLAN'][0].Plan, reads)
  return reads.size === 0 ? 'inside a function' : [...reads].join(', ')
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly PlanNode[]
}

function collect(node: PlanNode, reads: Set<string>): void {
  const relation = node['Relation Name']
  if (relation !== undefined) {
    const index = node['Index Name'] ?? indexBelow(node)
    reads.add(index === undefined ? `${relation} whole` : `${relation} by \`${index}\``)
  }
  for (const below of node.Plans ?? []) collect(below, reads)
}

function indexBelow(node: PlanNode): string | undefined {
  for (const below of node.Plans ?? []) {
    const found = below['Index Name'] ?? indexBelow(below)
    if (found !== undefined) return found
  }
  return undefined
}
