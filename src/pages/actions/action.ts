import type * as z from 'zod'
import type { PageContext } from '../page-context.ts'

/** Something that changes something: first it says what will happen, and then, on a word, does it. */
export interface Action<Fields extends object> {
  /** Of its address, `/actions/NAME`. */
  readonly name: string
  readonly fields: z.ZodType<Fields>
  /** @throws UsageError where it cannot be done */
  ask(context: PageContext, fields: Fields): Promise<Question>
  /**
   * @param key names this one asking, so that a form sent twice does it once
   * @returns the address of a page that says what was done
   * @throws UsageError where it cannot be done
   */
  perform(context: PageContext, fields: Fields, key: string): Promise<string>
}

/** What a person reads before they decide. */
export interface Question {
  readonly title: string
  /** What will happen. */
  readonly sentences: readonly string[]
  /** The button that does it. */
  readonly words: string
  /** True where it takes something away. */
  readonly isDanger?: boolean
  /** Where the way back leads. */
  readonly back: string
}
