export { callPlainly, resumeWait, type PlainOutcome } from './handlers.js';
export { plainTools, type ListedTool } from './render.js';
