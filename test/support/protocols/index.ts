/** The protocols. */
import type { ProtocolClient } from './client.js';
import { httpJobsClient } from './http-jobs.js';
import { olderTasksClient } from './older-tasks.js';
import { OPERATION_TOKENS, operationTokensClient } from './operation-tokens.js';
import { plainClient } from './plain.js';
import { session, stateless } from './rpc.js';
import { tasksClient } from './tasks.js';
import { TWO_STAGE, twoStageClient } from './two-stage.js';

export * from './client.js';
export * from './until.js';

/** A client for each protocol and revision, with sessions of its own. @param base address of the server: `http://127.0.0.1:7411` */
export function protocolClients(base: string): ProtocolClient[] {
  const url = `${base}/mcp`;
  const twoStage = stateless(url, TWO_STAGE);
  return [
    tasksClient(url),
    olderTasksClient(url),
    plainClient(stateless(url, {})),
    plainClient(session(url, '2025-11-25', {})),
    plainClient(session(url, '2025-06-18', {})),
    operationTokensClient(stateless(url, OPERATION_TOKENS)),
    operationTokensClient(session(url, '2025-11-25', OPERATION_TOKENS)),
    twoStageClient(twoStage, twoStage.wire),
    twoStageClient(session(url, '2025-11-25', TWO_STAGE)),
    httpJobsClient(base),
  ];
}
