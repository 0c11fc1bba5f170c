import type pg from 'pg'

/** What PostgreSQL says of a statement without running it. */
export interface Described {
  readonly parameterTypes: readonly number[]
  readonly columns: readonly DescribedColumn[]
}

export interface DescribedColumn {
  readonly name: string
  /** Object id of its type. */
  readonly type: number
  /** Object id and attribute number of the table's column that it is; 0 for an expression. */
  readonly table: number
  readonly attribute: number
}

/** The events of a connection of pg that answer a Describe (PostgreSQL documentation, Message Flow, Extended Query). */
interface Connection {
  parse(message: { name: string; text: string; types: number[] }): void
  describe(message: { type: 'S'; name: string }): void
  sync(): void
  on(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void
  removeListener(event: string, listener: unknown): void
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
  readonly tableID: number
  readonly columnID: number
}

/**
 * Parses and describes a statement on a connection.
 * @throws pg.DatabaseError as PostgreSQL refuses it
 */
export function describeStatement(client: pg.ClientBase, text: string): Promise<Described> {
  return new Promise((resolve, reject) => {
    let parameterTypes: readonly number[] = []
    let fields: readonly Field[] = []
    let connected: Connection | undefined
    const onParameters = ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
      parameterTypes = dataTypeIDs
    }
    const done = () => connected?.removeListener('parameterDescription', onParameters)
    const query = {
      submit(connection: Connection) {
        connected = connection
        connection.on('parameterDescription', onParameters)
        connection.parse({ name: '', text, types: [] })
        connection.describe({ type: 'S', name: '' })
        connection.sync()
      },
      handleRowDescription(message: { fields: Field[] }) {
        ;({ fields } = message)
      },
      handleReadyForQuery() {
        done()
        const columns = fields.map(({ name, dataTypeID, tableID, columnID }) => ({
          name,
          type: dataTypeID,
          table: tableID,
          attribute: columnID,
        }))
        resolve({ parameterTypes, columns })
      },
      handleError(error: Error) {
        done()
        reject(error)
      },
    }
    client.query(query as unknown as pg.Submittable)
  })
}
