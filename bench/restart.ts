/**
 * Restart time of the MCP server after kill -9: from the kill until `GET /readyz` answers 200, under the supervisor of
 * `longhaul up`, while Temporal and the worker keep running. The bound applies to the slowest restart.
 *
 *     node --import jiti/register bench/restart.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, printTable, quantile, withStack } from './support.js';

const BOUND_MS = 2_000;
const KILLS = 10;
/** Interval between two kills, in milliseconds. The supervisor must not treat them as a crash loop. */
const PAUSE_MS = 2_000;
const POLL_MS = 5;

await withStack(async ({ home }) => {
  const url = `${home.url}/readyz`;
  const isReady = () =>
    fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const tookMs: number[] = [];
  const cpuMsEach: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(PAUSE_MS);
    const pid = home.parts().server;
    const from = performance.now();
    process.kill(pid, 'SIGKILL');
    while (home.parts().server === pid || !(await isReady())) await sleep(POLL_MS);
    tookMs.push(performance.now() - from);
    cpuMsEach.push(cpuMs(home.parts().server));
  }
  const [fastest, median, slowest] = [0, 0.5, 1].map((share) => quantile(tookMs, share));
  const isOver = slowest! > BOUND_MS;
  if (isOver) process.exitCode = 1;
  const ms = (value: number | undefined) => `${value!.toFixed(0)} ms`;
  printTable(
    [`${KILLS} times kill -9, ${PAUSE_MS / 1000} s apart`, '', 'bound'],
    [
      ['ready again, fastest', ms(fastest), ''],
      ['ready again, p50', ms(median), ''],
      ['ready again, slowest', ms(slowest), `${isOver ? 'OVER' : 'under'} ${BOUND_MS} ms`],
      ["server's CPU until then, p50", ms(quantile(cpuMsEach, 0.5)), ''],
    ],
  );
});
