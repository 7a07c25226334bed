/** Configures the embedded server's namespace beyond the defaults of `start-dev`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { addSearchAttributes } from '../../platform/temporal/search-attributes.js';

const NAMESPACE = 'default';
/** Upper bound of every keepAlive on the embedded server. */
const RETENTION_HOURS = 72;
const ANSWER_LIMIT_MS = 2_000;
/** Time until all services know a new search attribute: `system.namespaceCacheRefreshInterval` is 2 s. */
const NAMESPACE_REFRESH_MS = 4_000;

/** Sets the retention and creates search attributes, which earlier versions' databases lack. Fails when the server doesn't answer. */
export async function prepareNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: ANSWER_LIMIT_MS });
  try {
    const areNew = await connection.withDeadline(Date.now() + ANSWER_LIMIT_MS, async () => {
      await setRetention(connection);
      return addSearchAttributes(connection.operatorService, NAMESPACE);
    });
    if (areNew) await sleep(NAMESPACE_REFRESH_MS);
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
