export { Cancellations } from './cancellations.js';
export { operationResult, operationStatus, startOperation, type OperationCaller } from './handlers.js';
export { asyncTools, documentAsyncTool, syncTool } from './list.js';
export { followOperation } from './handlers.js';
export { associationOf, isOperation } from './render.js';
export { parseOperationField } from './schemas.js';
