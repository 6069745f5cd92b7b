/** Whether a document may contain introspection. */
export const introspects = (text: string): boolean => /__(?:schema|type)\b/.test(text)
