export {
  callPlainly,
  optionsOf,
  orRefusal,
  renderStarted,
  resumeWait,
  startCall,
  waitPlainly,
  type PlainOutcome,
} from './handlers.js';
export { plainTools } from './list.js';
