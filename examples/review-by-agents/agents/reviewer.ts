/**
 * A child: takes one part of a review after the other, starts the long-running tool for it, and responds with its findings.
 *
 * node --import jiti/register agents/reviewer.ts URL NAME LEASE_SECONDS
 */
import { Mailbox, type Message } from './mailbox.js';
import type { Task } from './task.js';

const [url, name, lease = '20'] = process.argv.slice(2);
const mailbox = await Mailbox.connect(url!, name!, Number(lease));

let wake = await mailbox.register({ capabilities: ['review'], parent: 'lead' });
while (wake.kind !== 'end')
  wake =
    wake.kind === 'message'
      ? await mailbox.respond(wake.message, await review(wake.message))
      : await mailbox.wait();
await mailbox.close();

/** @returns the response to the lead */
async function review(message: Message): Promise<object> {
  const { review, aspect, folder, diff, maxFiles }: Task = message.context;
  // Another agent that takes this part uses the same key, and so gets the same operation.
  const key = `${review}-${aspect}`;
  try {
    const args = { folder, diff, maxFiles, aspects: [aspect] };
    const { token } = await mailbox.call('review_diff', { ...args, wait: false, idempotency_key: key });
    const started = { mode: 'started', to: message.from, context: { review, aspect, token } };
    await mailbox.send(`${key}-${name}-started`, `Started ${aspect}.`, started);
    for (;;) {
      // Half of the lease, so that it is renewed in time.
      const waiting = { token, view: 'full', wait: true, timeout: mailbox.leaseSeconds / 2 };
      const operation = await mailbox.call('operation_get', waiting);
      const { status, result, error, input_required, progress } = operation;
      if (status === 'completed')
        return { aspect, token, findings: result.findings, skipped: result.skipped };
      if (status === 'input_required') await ask(message, token, input_required);
      else if (status !== 'queued' && status !== 'running')
        return { aspect, token, error: error?.message ?? `the operation is ${status}` };
      else
        await mailbox.report(message, `${aspect}: ${progress?.progress ?? 0} of ${progress?.total ?? '?'}`);
    }
  } catch (error) {
    return { aspect, error: (error as Error).message };
  }
}

/** A child doesn't decide: it asks its parent, and gives the answer to the operation. */
async function ask(
  message: Message,
  token: string,
  questions: Record<string, { message: string }>,
): Promise<void> {
  for (const [key, question] of Object.entries(questions)) {
    const { aspect }: Task = message.context;
    const asked = { mode: 'question', to: message.from, context: { aspect, token } };
    const { id } = await mailbox.send(`${token}-${key}-${name}`, question.message, asked);
    let replies: Record<string, string> | undefined;
    while (!replies) {
      await mailbox.report(message, `${aspect}: waits for an answer`);
      const waiting = { message_id: id, wait: 'all', timeout_seconds: mailbox.leaseSeconds / 2 };
      replies = (await mailbox.call('check_replies', waiting)).r;
    }
    const content = JSON.parse(replies[message.from]!);
    await mailbox.answer(token, key, content);
  }
}
