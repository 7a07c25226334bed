export {
  callPlainTool,
  optionsOf,
  withErrorResult,
  renderStarted,
  resumeWait,
  startCall,
  waitAndRender,
  type PlainOutcome,
} from './handlers.js';
export { plainTools } from './list.js';
