/** The messages with which our statements refuse arguments; the client gets them as the message of the failure. */

export const sameKeyTwice = 'Two of the rows have the same key'
/** For inserts and updates with related rows. */
export const skippedRow = 'A row that others depend on was not inserted'
export const nullReferred = 'A row that others depend on has a null in the columns that they refer to'
export const noSuchRow = 'There is no such row to connect'
export const noRowToUpdate = 'There is no such row to update'
export const noRelatedRow = 'There is no such related row'
