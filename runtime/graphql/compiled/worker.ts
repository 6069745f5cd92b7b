import { parentPort } from 'node:worker_threads'
import { failedReply, replyFor } from '../apart/answers.ts'
import type { Reply } from '../apart/messages.ts'
import { pack } from '../apart/packing.ts'
import { readBody } from '../http/request.ts'
import type { LongQuestion } from './apart.ts'
import { createKnownDocuments, readable } from './documents.ts'
import { readDocumentFile } from './read-document.ts'
import { readyFor } from './ready.ts'

/** The thread that reads many variables of compiled documents. It reads a document for each of its questions. */

function answerLong({ folder, role, hash, addresses, operationName, unread }: LongQuestion): Reply {
  try {
    const known = createKnownDocuments(
      {
        folder,
        addresses: { types: { [role]: addresses.types }, roles: { [role]: { [hash]: addresses.document } } },
        outdated: [],
      },
      readDocumentFile,
    )
    const document = readable(() => known.find(role, hash))
    if (document === undefined) throw new Error('the question names the document')
    return {
      kind: 'ready',
      ready: pack(readyFor(document.operation(operationName), readBody(unread).variables, true)),
      lesson: null,
    }
  } catch (error) {
    return replyFor(error, false)
  }
}

const port = parentPort
if (port === null) throw new Error('this is the module of a thread')
port.on('message', (question: LongQuestion) => port.postMessage(answered(question)))

function answered(question: LongQuestion): Reply {
  try {
    return answerLong(question)
  } catch (error) {
    return failedReply(error)
  }
}
