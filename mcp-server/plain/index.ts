export { callPlainly, resumeWait, type PlainOutcome } from './handlers.js';
export { plainTools } from './list.js';
