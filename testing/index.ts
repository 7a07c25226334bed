/** Kit for testing tools with any test runner: docs/writing-a-tool.md, "Test it". */
export {
  TestToolEnvironment,
  type StartOptions,
  type TestToolEnvironmentOptions,
  type ToolArguments,
} from './environment.js';
export { OperationFailedError, ReplayError, TestEnvironmentError, WaitTimeoutError } from './errors.js';
export { OperationHandle, type OperationDescription, type Question, type WaitOptions } from './operation.js';
export type { ToolDeclaration as ListedTool } from '../cli/client/wire.js';
