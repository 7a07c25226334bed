/** Tools over the odd worker's workflows (odd/workflows.ts), each odd in a way. */
import { randomUUID } from 'node:crypto';

/** The task queue of this file's odd worker. */
export const QUEUE = `odd-${randomUUID()}`;
const workflow = (type: string) => `workflow: { type: ${type}, task-queue: ${QUEUE} }`;
const TICKS_INPUT = 'input: { properties: { goal: { type: integer } }, required: [goal] }';

/** A tool over a workflow whose result is a list. @param output schema of the result */
export const declaring = (output: string) =>
  `${workflow('Result')}\ninput: { properties: { kind: { type: string } } }\nargs: [kind]\noutput: ${output}\n`;

export const TOOLS = {
  'result.yaml': `${workflow('Result')}\ninput: { properties: { kind: { type: string } } }\nargs: [kind]\n`,
  'declared.yaml': declaring('{ type: array, items: { type: string } }'),
  'echo.yaml': `${workflow('Echo')}
input: { properties: { first: { type: string }, second: { type: integer }, wait_minutes: { type: number } } }
args: [first, second, { wait: wait_minutes }]
`,
  'fails.yaml': `${workflow('Fails')}\ninput: { properties: { message: { type: string } } }\nargs: [message]\nretryable-errors: [Odd]\n`,
  'beats.yaml': `${workflow('Heartbeats')}
input: { properties: { rows: { type: integer } } }
args: [rows]
progress: { heartbeats: true, map: { progress: rows, total: total } }
`,
  'unmapped.yaml': `${workflow('Heartbeats')}\ninput: { properties: { rows: { type: integer } } }\nargs: [rows]\n`,
  'ticks.yaml': `${workflow('Ticks')}
${TICKS_INPUT}
args: [goal]
progress: { query: progress, map: { progress: at.done, total: at.of, stage: step } }
`,
  'lacking.yaml': `${workflow('Ticks')}
${TICKS_INPUT}
args: [goal]
progress: { query: progres, map: { progress: at.done } }
`,
  'throwing.yaml': `${workflow('Ticks')}
${TICKS_INPUT}
args: [goal]
progress: { query: throws, map: { progress: at.done } }
`,
  'asks.yaml': `${workflow('Asks')}
input: { properties: { times: { type: integer } } }
args: [times]
question:
  query: question
  fields: { properties: { approved: { type: boolean }, comment: { type: string } }, required: [approved] }
  answer: { update: decide, args: [approved, comment], decline: [false, declined] }
`,
  'reviews.yaml': `${workflow('Reviews')}
input: { properties: { names: { type: array, items: { type: string } } } }
args: [names]
question:
  query: open
  key: id
  fields: { properties: { id: { type: string }, verdict: { enum: [good, bad] } }, required: [id, verdict] }
  answer: { signal: reply }
`,
  'stubborn.yaml': workflow('Stubborn'),
  'stops.yaml': `${workflow('Stops')}\ncancel: { signal: stop, args: [asked to] }\n`,
  'moves.yaml': `${workflow('Moves')}\ninput: { properties: { queue: { type: string } } }\nargs: [queue]\n`,
  'unknown_type.yaml': workflow('NoSuchWorkflow'),
  'unserved.yaml': `workflow: { type: Echo, task-queue: nobody-${QUEUE} }\n`,
  'named.yaml': `workflow: { type: Ticks, task-queue: ${QUEUE}, id: 'order-${QUEUE}-{goal}' }
${TICKS_INPUT}
args: [goal]
`,
  'short.yaml': `${workflow('Ticks')}\n${TICKS_INPUT}\nargs: [goal]\ntimeout-minutes: 0.05\n`,
};
