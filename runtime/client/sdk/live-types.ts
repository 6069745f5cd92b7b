import type { LiveListener, LiveOptions, LiveStream } from '../live/live.ts'
import type { Answer, Answered, Asked, CheckedAsked, FieldsOf } from './sdk-types.ts'

/** The watching methods of generated clients: like the requests, with a listener. */

/** Watches the rows of a page. */
export interface LiveList<Row, Args> {
  <const Given extends Asked<Row, Args>>(
    given: Given & CheckedAsked<Row, Args, Given>,
    listener: LiveListener<Answer<Row, Given['select']>[]>,
    options?: LiveOptions,
  ): LiveStream
}

/** Watches an object, or null if `Field` may be null. */
export interface LiveAsk<Field, Args> {
  <const Given extends Asked<FieldsOf<Field>, Args>>(
    given: Given & CheckedAsked<FieldsOf<Field>, Args, Given>,
    listener: LiveListener<Answered<Field, Given['select']>>,
    options?: LiveOptions,
  ): LiveStream
}

/** Watches the plain value of a function. */
export type LiveCall<Value, Args> = (args: Args, listener: LiveListener<Value>, options?: LiveOptions) => LiveStream
