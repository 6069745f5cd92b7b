/** Whether a document may ask what the schema is. */
export const introspects = (text: string): boolean => /__(?:schema|type)\b/.test(text)
