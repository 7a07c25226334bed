/** Waits as an agent in a process of its own, and prints how the wait ended: `... principal agentId taskQueue`. */
import { once, openPost, patiently } from './support.js';

const [, , principal, agentId, taskQueue] = process.argv as [string, string, string, string, string];
const { mailbox } = await openPost({ taskQueue });
console.log(JSON.stringify(await mailbox.receive(principal, agentId, once())));
const wait = mailbox.receive(principal, agentId, patiently());
console.log('waiting');
console.log(JSON.stringify(await wait));
process.exit();
