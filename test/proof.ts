/** The promises that `npm test` proves, each with the files that prove it. test/README.md shows them. */
export interface Promised {
  promise: string;
  files: string[];
}

/** Promise, and names of the test files that prove it: `engine/tokens` is test/engine/tokens.test.ts. */
const PROVED: [promise: string, ...names: string[]][] = [
  [
    'A client starts a long tool, follows it, answers it, cancels it and collects it',
    'revision-2026-07-28/tasks',
  ],
  ['A call survives kill -9 of the server, the worker, Temporal and everything at once', 'temporal/kills'],
  ['Work outlives an outage of Temporal, and no protocol reports it as lost', 'temporal/outage'],
  ['Answers, cancels and starts take effect once a worker is back', 'engine/without-workers'],
  [
    'One of several answers to a question counts, also without a worker, and each sender learns which',
    'engine/queued-answers',
  ],
  ['Progress never decreases', 'progress/progress'],
  ['A result of megabytes completes, is linked to and stays out of history', 'operations/large-values'],
  [
    'The server refuses bad input before anything starts and says what to correct',
    'revision-2026-07-28/bad-input',
    'http-jobs/bad-input',
  ],
  ['One idempotency key is one operation on every protocol', 'idempotency/keys'],
  ['No random sequence of calls over all protocols contradicts the record', 'model/model', 'model/protocols'],
  ['The kept history of each workflow replays with the code of today', 'histories/replay'],
  [
    'An operation ends on the release that it began on, and a rollback strands nothing',
    'versioning/releases',
  ],
  [
    'An edit that does not replay an open operation is refused, and others are not held up by it',
    'versioning/edits',
  ],
  ['A client behind a balancer continues while each of two servers is killed', 'proxy/two-servers'],
  ['A stopping server answers every wait with how to continue', 'shutdown/http'],
  ['The server passes the official conformance suite', 'conformance/server'],
  ['A subscriber hears of each state of a task, up to its result', 'subscriptions/http'],
  [
    'A client of 2025-11-25 runs tasks and resumes a wait at another server',
    'revision-2025-11-25/tasks',
    'revision-2025-11-25/sessions',
  ],
  ['The example of SEP-1391 runs as it is written', 'sep-1391/document', 'sep-1391/tokens'],
  ['The example of two-stage returns runs as it is written', 'two-stage/document', 'two-stage/streams'],
  [
    'A plain client gets a token, the next action, a question and the result',
    'plain/contract',
    'plain/questions',
    'plain/waits',
  ],
  [
    'An HTTP client starts, follows and collects jobs, and gets every event once',
    'http-jobs/kickoff',
    'http-jobs/jobs',
    'http-jobs/events',
  ],
  [
    'The operation tools show, list, answer and cancel operations',
    'operation-tools/get',
    'operation-tools/list',
    'operation-tools/answer',
    'operation-tools/cancel',
  ],
  [
    'A message wakes one waiting agent, survives kills and is answered once',
    'mailbox/messages',
    'mailbox/sessions',
  ],
  ['Nothing but the health is served without a valid key, and a revoked key ends its streams', 'auth/keys'],
  ['A server accepts access tokens of its authorization server only', 'auth/access-tokens'],
  ["A caller gets the same answer for another caller's operation as for an unknown one", 'auth/isolation'],
  [
    'A role gives exactly the rights in the policy file, and an approval asks for its role',
    'auth/policy-file',
    'auth/approvals',
  ],
  ['A workflow that the server has not started has no effect', 'auth/signed-starts'],
  ['A caller over a limit is refused, and others are served', 'auth/limits'],
  ['A page of another origin gets nothing', 'auth/origins', 'auth/web-pages'],
  ['A caller of analyze_dataset reads the data folders only, and never writes SQL', 'analyze_dataset/safety'],
  ['A data file that crashes its reader fails its own operation, and no other', 'analyze_dataset/process'],
  ['A pipeline runs with its inputs, conditions, retries and outputs', 'pipelines/language', 'pipelines/run'],
  ['An approval stops a job until somebody answers', 'pipelines/run'],
  ['A step runs on when its worker is killed, and the next worker adopts it', 'pipelines/kills'],
  [
    'A cancel ends the running step in good order, and a resume continues after the last finished one',
    'pipelines/resume',
  ],
  ['A secret reaches its step and no log', 'pipelines/run', 'pipelines/steps-mask'],
  ['A workflow that knows nothing of Longhaul runs as a tool', 'external-workflows/odd'],
  ["An author's workflow asks, cleans up and ends at its maximum duration", 'authoring/helpers'],
  ['A reader of docs/writing-a-tool.md gets a tool that runs', 'authoring/writing-a-tool'],
  ['A tool with an odd schema, or one that cannot be used, takes no other tool away', 'schemas/odd-tools'],
  ['longhaul check names every problem with its file and line', 'authoring/check'],
  ['The command line calls, watches, answers and cancels, and shows scripts how it ended', 'cli/client'],
  ['up restarts killed parts and refuses a second up, and down ends everything', 'stack/supervisor'],
  ['Clients over stdio share one stack', 'stack/stdio'],
  ['A home is for its user alone, and its backup works elsewhere', 'stack/private-home', 'stack/backup'],
  ['A row in test/suites.ts covers every suite and every room of the source', 'repository/suites'],
];

export const PROOF: Promised[] = PROVED.map(([promise, ...names]) => ({
  promise,
  files: names.map((name) => `test/${name}.test.ts`),
}));

/** All files of the proof. */
export const proofFiles = (proof = PROOF): string[] =>
  [...new Set(proof.flatMap(({ files }) => files))].sort();
