/**
 * A button that leads to the question of an action, which says what will happen; nothing is changed yet.
 * @param about what tells it from others with the same words, for those who only hear it
 */
export function AskButton({
  action,
  fields = {},
  words,
  about,
  kind = 'quiet',
}: {
  action: string
  fields?: Record<string, string>
  words: string
  about?: string
  kind?: 'primary' | 'quiet' | 'danger'
}) {
  return (
    <form method="get" action={`/actions/${action}`}>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button class={`button ${kind}`} type="submit">
        {words}
        {about !== undefined && <span class="unseen"> {about}</span>}
      </button>
    </form>
  )
}
