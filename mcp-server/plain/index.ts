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
export { documentPlainTool, plainTools } from './list.js';
