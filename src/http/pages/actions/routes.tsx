import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import * as z from 'zod'
import { UsageError } from '../../../base/errors.ts'
import { HiddenFields, Submit } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import { readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { PACE_ACTIONS } from '../overview/pace.tsx'
import { SCHEDULE_ACTIONS } from '../schedule.tsx'
import { ACTIONS } from './actions.ts'
import type { Action, Question } from './actions.ts'

/** `/actions/NAME`: GET asks for a confirmation, POST acts and redirects to a page that reports the result. */
export function actionRoutes(app: FastifyInstance, context: PageContext): void {
  for (const [name, action] of Object.entries({ ...ACTIONS, ...SCHEDULE_ACTIONS, ...PACE_ACTIONS }))
    addAction(app, context, `/actions/${name}`, action)
}

const Key = z.object({ key: z.uuid() })

function addAction(app: FastifyInstance, context: PageContext, path: string, action: Action): void {
  app.get(path, { config: { right: 'operate' } }, async (request, reply) => {
    try {
      const fields = readFields(action.fields, request.query)
      return sendQuestion(reply, path, fields, await action.confirm(fields, context))
    } catch (error) {
      if (!(error instanceof UsageError) || action.form === undefined) throw error
      return sendPage(
        reply.code(400),
        { title: 'Not possible', part: null },
        <>
          <p class="notice bad" role="alert">
            {error.message}
          </p>
          {action.form(request.query)}
        </>,
      )
    }
  })
  app.post(path, { config: { right: 'operate' } }, async (request, reply) => {
    const fields = readFields(action.fields, request.body)
    const { key } = readFields(Key, request.body)
    const { by } = request
    const acting = { ...context, by, collabSync: context.collabSync.as(by) }
    return reply.redirect(await action.perform(fields, acting, key), 303)
  })
}

/** Sends the question before an action, with the form that confirms it. */
export function sendQuestion(
  reply: FastifyReply,
  path: string,
  fields: object,
  question: Question,
) {
  return sendPage(
    reply,
    { title: question.title, part: null },
    <section class="card">
      {question.sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <form class="row" method="post" action={path}>
        <HiddenFields of={{ ...fields, ...question.carries, key: randomUUID() }} />
        {question.reason !== undefined && (
          <label>
            {question.reason === 'required' ? 'Reason' : 'Reason (optional)'}{' '}
            <input name="reason" required={question.reason === 'required'} maxLength={1000} />
          </label>
        )}
        <Submit words={question.words} kind={question.isDanger ? 'danger' : 'primary'} />
        <a class="button quiet" href={question.back}>
          Back
        </a>
      </form>
    </section>,
  )
}
