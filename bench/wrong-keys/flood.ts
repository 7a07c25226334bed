/**
 * Sends MCP requests, each with another wrong key, at a steady rate until its input ends. Prints a line when the first is answered, then a
 * line with the rate and the statuses of the answers.
 *
 *     node --import jiti/register bench/wrong-keys/flood.ts URL PER_SECOND
 */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';

/** Requests that are open at most: a server that is slower than the rate is not sent more. */
const MAX_OPEN = 200;
const INTERVAL_MS = 5;

const [url, rate] = process.argv.slice(2) as [string, string];
const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN });
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const statuses: Record<string, number> = {};
const beganMs = performance.now();
let [sent, open, answered] = [0, 0, 0];

function send(): void {
  open += 1;
  sent += 1;
  const wrong = `lh_${randomBytes(6).toString('hex')}_${randomBytes(32).toString('base64url')}`;
  const count = (status: number | string) => {
    open -= 1;
    statuses[status] = (statuses[status] ?? 0) + 1;
    if ((answered += 1) === 1) console.log('begun');
  };
  request(url, {
    method: 'POST',
    agent,
    headers: { authorization: `Bearer ${wrong}`, 'content-type': 'application/json' },
  })
    .on('response', (response) => response.resume().once('end', () => count(response.statusCode!)))
    .on('error', (error) => count(error.name))
    .end(body);
}

const timer = setInterval(() => {
  const due = ((performance.now() - beganMs) * Number(rate)) / 1_000;
  while (sent < due && open < MAX_OPEN) send();
}, INTERVAL_MS);
process.stdin.resume().once('end', () => {
  clearInterval(timer);
  console.log(JSON.stringify({ perSecond: (answered / (performance.now() - beganMs)) * 1_000, statuses }));
  agent.destroy();
});
