/** With a language model: a server of the chat completions API that is good, manipulated, slow, busy or wrong. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { TestToolEnvironment } from 'longhaul/testing';
import tool from '../tools/research_topic.js';
import { ChatEndpoint, KEY } from './chat-endpoint.js';
import { Folders, INJECTED, INVOICES } from './folders.js';
import { assertCitationsExist } from './sources.js';

const HISTORY = 'histories/model.json';
const TOPIC = 'How long are invoices kept, and who deletes them?';

const endpoint = new ChatEndpoint();
/** For busy machines: each takes a few seconds on an idle one. */
const LIMIT = { timeoutMs: 240_000 };

let environment: TestToolEnvironment;
let folders: Folders;
let folder: string;
before(async () => {
  folders = await Folders.create();
  folder = await folders.add('invoices', INVOICES);
  const keyFile = join(await folders.add('secrets', {}), 'key');
  await writeFile(keyFile, `${KEY}\n`);
  environment = await TestToolEnvironment.create({
    settings: { dataFolders: [folders.root] },
    environment: {
      RESEARCH_MODEL_URL: await endpoint.listen(),
      RESEARCH_MODEL: 'test-model',
      RESEARCH_MODEL_KEY_FILE: keyFile,
    },
  });
});
after(async () => {
  await environment?.close();
  await endpoint.close();
});
beforeEach(() => {
  endpoint.mode = 'answers';
  endpoint.failures = [];
  endpoint.requests.length = endpoint.times.length = 0;
});

test('writes with a model; a worker that is killed while the model thinks changes nothing', async () => {
  const calm = await environment.call(tool, { topic: TOPIC, folder }, LIMIT);
  assert.match(calm.report, /^# .*\n\n> Written by the language model test-model/);
  assert.equal(calm.model, 'test-model');
  assert.equal(calm.contradictions, 1);
  assert.match(calm.report, /how long invoices are kept: .*against/);
  await assertCitationsExist(folder, calm.report, calm.citations);

  let open = () => {};
  endpoint.gate = new Promise((settle) => (open = settle));
  const asked = endpoint.nextQuestion();
  const operation = await environment.start(tool, { topic: TOPIC, folder });
  await asked;
  await environment.killWorker();
  open();
  await environment.startWorker();
  const result = await operation.result(LIMIT);
  assert.deepEqual({ ...result, file: '' }, { ...calm, file: '' });
  if (process.env.RECORD) await operation.saveHistory(HISTORY);
});

test('documents that give orders are data: what an obedient model makes up is dropped', async () => {
  endpoint.mode = 'obeys';
  const injected = await folders.add('injected', { ...INVOICES, ...INJECTED });
  const { report, dropped, statements } = await environment.call(tool, {
    topic: TOPIC,
    folder: injected,
    rounds: 1,
  });
  assert.ok(dropped >= 3, `${dropped} dropped`);
  assert.equal(statements, 0);
  assert.match(report, /statements on .* were left out: a quote isn't in the documents/);
  assert.doesNotMatch(report, /root:x|mallory|All invoices are free|administrator/);
  for (const request of endpoint.requests) {
    assert.deepEqual(Object.keys(request).sort(), ['messages', 'model']);
    const [system, user] = request.messages;
    assert.doesNotMatch(system!.content, /ignore your instructions/i);
    assert.doesNotMatch(user!.content, /root:x/);
    // The order stands between delimiters with a name that no document can know.
    if (/ignore your instructions/i.test(user!.content))
      assert.match(user!.content, /<(\w+-[0-9a-f]{16})>.*ignore your instructions.*<\/\1>/is);
  }
});

test('waits for an endpoint that is down, and as long as it asks for', async () => {
  const busy = { status: 429, headers: { 'retry-after': '3' } };
  endpoint.failures = [{ status: 0 }, { status: 503 }, busy];
  const { statements } = await environment.call(tool, { topic: TOPIC, folder, rounds: 1 }, LIMIT);
  assert.ok(statements > 0);
  const [, , third, fourth] = endpoint.times as [number, number, number, number];
  assert.ok(fourth - third >= 2_900, `asked again after ${fourth - third} ms`);
});

test('a refused key fails at once, and is in no message', async () => {
  endpoint.mode = 'refuses';
  const operation = await environment.start(tool, { topic: TOPIC, folder });
  const failure = await operation.result(LIMIT).catch((error: Error & { type?: string }) => error);
  assert.ok(failure instanceof Error);
  assert.equal(failure.type, 'ModelKeyRefused');
  assert.match(failure.message, /refuses the key of RESEARCH_MODEL_KEY_FILE \(HTTP 401\)/);
  assert.doesNotMatch(JSON.stringify([failure.message, await operation.fetchHistory()]), new RegExp(KEY));
  assert.equal(endpoint.requests.length, 1);
});

test('a model that answers nonsense fails with a message, after three tries for each question', async () => {
  endpoint.mode = 'nonsense';
  const call = environment.call(tool, { topic: TOPIC, folder, researchers: 2 }, LIMIT);
  await assert.rejects(call, {
    kind: 'failed',
    type: 'ModelUnusable',
    message: /answers nothing that can be read/,
  });
  assert.equal(endpoint.requests.length, 9);
});

test('replays the history of an earlier version', () => environment.replay(HISTORY));
