/** Configures the embedded server's namespace beyond the defaults of `start-dev`. */
import { Connection } from '@temporalio/client';
import { addSearchAttributes } from '../platform/search-attributes.js';

const NAMESPACE = 'default';
/** Upper bound of every keepAlive on the embedded server. */
const RETENTION_HOURS = 72;
const ANSWER_LIMIT_MS = 2_000;

/** Sets the retention and creates missing search attributes; fails when the server doesn't answer. */
export async function prepareNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: ANSWER_LIMIT_MS });
  try {
    await connection.withDeadline(Date.now() + ANSWER_LIMIT_MS, async () => {
      await setRetention(connection);
      await addSearchAttributes(connection.operatorService, NAMESPACE);
    });
  } finally {
    await connection.close();
  }
}

async function setRetention({ workflowService }: Connection): Promise<void> {
  const seconds = RETENTION_HOURS * 3_600;
  const { config } = await workflowService.describeNamespace({ namespace: NAMESPACE });
  if (Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) === seconds) return;
  await workflowService.updateNamespace({
    namespace: NAMESPACE,
    config: { workflowExecutionRetentionTtl: { seconds: seconds as never } },
  });
}
