/** Two-stage returns: a call answers at once with a job and an estimate. Progress and the result follow. */
export { cancelJob, pollResult, startJob, type JobCaller } from './handlers.js';
export { documentTwoStageTool, twoStageTools } from './list.js';
export { followJob, type JobNotification } from './notifications.js';
export { CANCEL_METHOD, parseKeepAlive, POLL_METHOD } from './schemas.js';
export { DeliveredJobs, type JobsPosition } from './delivered-jobs.js';
