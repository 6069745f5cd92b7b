import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../runtime/graphql/apart/reader.ts'
import { createEngine } from './engine.ts'

/** The module of the thread that reads long documents. */
answerQuestions(parentPort, createEngine)
