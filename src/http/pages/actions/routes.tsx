import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { HiddenFields } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import { readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { removeSchedule, setSchedule } from '../schedule.tsx'
import * as actions from './actions.ts'
import type { Action, Question } from './actions.ts'

/** `/actions/NAME`: GET asks, POST does and leads to a page that says what was done. */
export function actionRoutes(app: FastifyInstance, context: PageContext): void {
  addAction(app, context, actions.sync)
  addAction(app, context, actions.giveHint)
  addAction(app, context, actions.add)
  addAction(app, context, actions.remove)
  addAction(app, context, actions.retryRun)
  addAction(app, context, actions.cancelRun)
  addAction(app, context, actions.acceptHeld)
  addAction(app, context, actions.refuseHeld)
  addAction(app, context, actions.setAside)
  addAction(app, context, setSchedule)
  addAction(app, context, removeSchedule)
}

const Key = z.object({ key: z.uuid() })

function addAction<Fields extends object>(
  app: FastifyInstance,
  context: PageContext,
  action: Action<Fields>,
): void {
  const path = `/actions/${action.name}`
  app.get(path, { config: { right: 'operate' } }, async (request, reply) => {
    const fields = readFields(action.fields, request.query)
    const question = await action.ask(context, fields)
    return sendPage(
      reply,
      { title: question.title, part: null },
      <Ask path={path} fields={fields} question={question} />,
    )
  })
  app.post(path, { config: { right: 'operate' } }, async (request, reply) => {
    const fields = readFields(action.fields, request.body)
    const { key } = readFields(Key, request.body)
    const { by } = request
    const acting = { ...context, by, collabSync: context.collabSync.as(by) }
    return reply.redirect(await action.perform(acting, fields, key), 303)
  })
}

function Ask({ path, fields, question }: { path: string; fields: object; question: Question }) {
  return (
    <section class="card">
      {question.sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <form class="row" method="post" action={path}>
        <HiddenFields of={{ ...fields, ...question.carries, key: randomUUID() }} />
        {question.reason !== undefined && (
          <label>
            Why <input name="reason" required={question.reason === 'required'} maxLength={1000} />
          </label>
        )}
        <button class={`button ${question.isDanger ? 'danger' : 'primary'}`} type="submit">
          {question.words}
        </button>
        <a class="button quiet" href={question.back}>
          Leave it as it is
        </a>
      </form>
    </section>
  )
}
