import type { FailureReport } from '../../documents/failure.ts'
import type { RunDetails } from '../../documents/run.ts'
import { count, counted, scopePath } from '../../format.ts'
import { AskButton } from '../actions/ask-button.tsx'
import { Heads, Scroller } from '../elements.tsx'

/** Why scopes failed, the most frequent cause first, and a way to try just those again. */
export function Failures({ run }: { run: RunDetails }) {
  return (
    <section class="card">
      <div class="head">
        <h2>Failures by cause</h2>
        {run.finishedAt !== null && (
          <AskButton
            action="retry"
            fields={{ run: run.runId }}
            words={`Retry just ${run.scopesFailed === 1 ? 'that scope' : `those ${counted(run.scopesFailed, 'scope')}`}`}
            kind="primary"
          />
        )}
      </div>
      <Scroller label="Failures by cause">
        <table>
          <caption>Scopes that gave no usable answer; everything else is in</caption>
          <Heads
            of={[
              ['Cause'],
              ['Operation'],
              ['Scopes', 'number'],
              ['Organizations', 'number'],
              ['Tries', 'number'],
              ['Such as'],
            ]}
          />
          <tbody>
            {run.failuresByCause.map((cause, place) => (
              <Cause key={place} cause={cause} />
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  )
}

function Cause({ cause }: { cause: FailureReport }) {
  const answer = [cause.httpStatus, cause.errorStatus].filter((part) => part !== null).join(' ')
  return (
    <tr>
      <th scope="row" class="id">
        {answer || 'no answer'}
        {cause.errorMessage && <div class="soft">{cause.errorMessage}</div>}
      </th>
      <td>{cause.operation}</td>
      <td class="number">{count(cause.scopes)}</td>
      <td class="number">{count(cause.organizations)}</td>
      <td class="number">{count(cause.attempts)}</td>
      <td class="id">
        <ul>
          {cause.examples.map((example, place) => (
            <li key={place}>{scopePath(example)}</li>
          ))}
        </ul>
      </td>
    </tr>
  )
}
