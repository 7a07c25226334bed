/** Level 3: questions and their answers, also across runs. */
import { randomUUID } from 'node:crypto';
import { canonicalJson } from '../../operations/json/canonical-json.js';
import type { Answer } from '../../operations/record.js';
import { START_MEMO, type StartMemo } from '../../operations/wire/index.js';
import type { PublishedState } from '../../operations/wire/state.js';
import { expectThat, type Fixture } from './fixture.js';

const confirm = (value: unknown): Answer => ({ action: 'accept', content: { confirm: value } });
const count = (value: unknown): Answer => ({ action: 'accept', content: { count: value } });

export async function checkQuestion(fixture: Fixture): Promise<void> {
  await fixture.start();
  const keys: string[] = [];
  const asked = async (message: string) => {
    const { key } = await fixture.question(message);
    expectThat(!keys.includes(key), 'a key that no earlier question had', key);
    keys.push(key);
    return { key };
  };
  const isOpen = async (key: string) => key in ((await fixture.query()).inputRequests ?? {});

  const first = await fixture.need('a question is in the memo', async () => {
    const { key } = await asked('Delete?');
    const { questionsSince, questions } = (await fixture.describe()).state ?? {};
    expectThat(questionsSince, 'questionsSince while a question is open', questionsSince);
    expectThat(isSame(questions, { count: 1, keys: [key] }), `questions with the key ${key}`, questions);
    return key;
  });
  if (fixture.hasSearchAttributes)
    await fixture.check('LonghaulStatus is input_required while a question is open', () =>
      fixture.expectStatus('input_required'),
    );
  await fixture.check('an answer that does not fit the schema is refused', async () => {
    await fixture.expectRefusal(fixture.answer(first, confirm('yes')), 'invalid_answer');
    await fixture.expectRefusal(fixture.answer(first, { action: 'accept', content: {} }), 'invalid_answer');
    expectThat(await isOpen(first), 'that the question is still open', await fixture.query());
  });
  await fixture.check('an unknown action is refused', () =>
    fixture.expectRefusal(fixture.answer(first, { action: 'maybe' } as never), 'invalid_answer'),
  );
  await fixture.check('an answer to an unknown key is refused', () =>
    fixture.expectRefusal(fixture.answer(`no-such-${randomUUID()}`, confirm(true)), 'unknown_key'),
  );

  let accepted = { id: '', value: false };
  await fixture.need('of two racing answers, one is accepted', async () => {
    const racing = [true, false].map((value) => ({ id: randomUUID(), value }));
    const outcomes = await Promise.allSettled(
      racing.map(({ id, value }) => fixture.answer(first, confirm(value), id)),
    );
    const winners = racing.filter((_one, index) => outcomes[index]!.status === 'fulfilled');
    expectThat(winners.length === 1, 'one accepted answer', `${winners.length} accepted`);
    accepted = winners[0]!;
  });
  const second = await fixture.need('the workflow continues with the answer', () => asked('How many?'));
  await fixture.check('the accepted answer counts once, however often it comes', async () => {
    await fixture.answer(first, confirm(accepted.value), accepted.id);
    await fixture.signalAnswer(first, confirm(accepted.value), accepted.id);
    const { answers = [] } = await fixture.query();
    expectThat(answers.length === 1, 'one answer', answers);
    expectThat(await isOpen(second.key), 'that the next question is open', keys);
  });
  await fixture.check('another answer to an answered question is refused', () =>
    fixture.expectRefusal(fixture.answer(first, confirm(!accepted.value)), 'already_answered', 'unknown_key'),
  );
  await fixture.check('a signalled answer that does not fit is ignored', async () => {
    await fixture.signalAnswer(second.key, count(9));
    expectThat(await isOpen(second.key), 'that the question is still open', await fixture.query());
  });
  const again = await fixture.need('a question that is cancelled is asked again', async () => {
    await fixture.answer(second.key, { action: 'cancel' });
    const key = await fixture.eventually('the same question under a new key', async () => {
      const { state } = await fixture.describe();
      const [key] = Object.keys(state?.inputRequests ?? {});
      return key !== undefined && key !== second.key ? key : undefined;
    });
    expectThat(!keys.includes(key), 'a key that no earlier question had', key);
    keys.push(key);
    return key;
  });
  const last = await fixture.need('an answer can come as a signal', async () => {
    await fixture.signalAnswer(again, count(3));
    return (await asked('Sure?')).key;
  });
  await fixture.check('a question can be declined', async () => {
    await fixture.answer(last, { action: 'decline' });
    const result: unknown = await fixture.handle.result();
    const expected = { confirm: { confirm: accepted.value }, count: { count: 3 }, last: 'decline' };
    expectThat(isSame(result, expected), JSON.stringify(expected), result);
  });
  await fixture.check('answers are in the memo, and no question is left', async () => {
    const { state } = await fixture.describe();
    const answers = (state?.answers ?? []).map(({ key, action }) => [key, action]);
    const expected = [
      [first, 'accept'],
      [second.key, 'cancel'],
      [again, 'accept'],
      [last, 'decline'],
    ];
    expectThat(isSame(answers, expected), JSON.stringify(expected), answers);
    expectClosed(state);
  });
}

export async function checkContinue(fixture: Fixture): Promise<void> {
  await fixture.start(1);
  const first = await fixture.need(
    'the first run asks',
    async () => (await fixture.question('Continue?')).key,
  );
  const { runId } = await fixture.describe();
  const second = await fixture.need('the next run asks', async () => {
    await fixture.answer(first, confirm(true));
    return (await fixture.question('Finish?')).key;
  });
  await fixture.check('the workflow continued as new, with its start memo', async () => {
    const { runId: next, memo } = await fixture.describe();
    expectThat(next !== runId, 'another run', next);
    const start = memo?.[START_MEMO] as StartMemo | undefined;
    fixture.fits('start-memo', start);
    expectThat(start?.tool === fixture.name, `the tool "${fixture.name}"`, start);
    expectThat(start.createdAt, 'createdAt: the start of the first run', start);
  });
  await fixture.check('stage, progress, partial result and answers are carried over', async () => {
    const { state } = await fixture.describe();
    expectThat(state?.stage === 'first run', 'the stage "first run"', state);
    expectThat(isSame(state.partial, { rows: 1 }), 'the partial result {"rows":1}', state.partial);
    expectThat(
      state.progress?.progress === 1 && state.progress.total === 2,
      'progress 1 of 2',
      state.progress,
    );
    expectThat(state.answers?.[0]?.key === first, `the answer to ${first}`, state.answers);
  });
  await fixture.check('no key of an earlier run is used again', async () => {
    expectThat(second !== first, `another key than ${first}`, second);
    await fixture.expectRefusal(fixture.answer(first, confirm(true)), 'unknown_key', 'already_answered');
  });
  await fixture.check('no question is open after the answer', async () => {
    await fixture.answer(second, confirm(true));
    expectClosed(await fixture.state('progress 2', ({ progress }) => progress?.progress === 2));
  });
  if (fixture.hasSearchAttributes)
    await fixture.check('LonghaulStatus is unset while no question is open', () =>
      fixture.expectStatus(undefined),
    );
  await fixture.check('the last run completes the operation', async () => {
    await fixture.handle.signal('next');
    const result = (await fixture.handle.result()) as unknown;
    expectThat(result === 'finished', '"finished"', result);
  });
}

function expectClosed({ inputRequests = {}, questions, questionsSince }: PublishedState = {}): void {
  const left = Object.keys(inputRequests);
  expectThat(left.length === 0, 'no open question', left);
  expectThat(!questions && !questionsSince, 'neither questions nor questionsSince', questions);
}

/** Whether two values are the same JSON, in any order of keys. */
function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
