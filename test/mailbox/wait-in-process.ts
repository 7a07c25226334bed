/** Waits as an agent in a process of its own, and prints the outcome: `... principal agentId taskQueue`. */
import { once, openMailbox, longWait } from './support.js';

const [, , principal, agentId, taskQueue] = process.argv as [string, string, string, string, string];
const { mailbox } = await openMailbox({ taskQueue });
console.log(JSON.stringify(await mailbox.receive(principal, agentId, once())));
const wait = mailbox.receive(principal, agentId, longWait());
console.log('waiting');
console.log(JSON.stringify(await wait));
process.exit();
