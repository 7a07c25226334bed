/** The promises that `npm test` proves, each with the files that prove it. test/README.md shows them. */
export interface Promised {
  promise: string;
  files: string[];
}

export const PROOF: Promised[] = [
  {
    promise: 'A client starts a long tool, follows it, answers it, cancels it and collects it',
    files: ['test/core/tasks.test.ts'],
  },
  {
    promise: 'A call survives kill -9 of the server, the worker, Temporal and everything at once',
    files: ['test/core/kills.test.ts'],
  },
  {
    promise: 'Work outlives an outage of Temporal, and no protocol reports it as lost',
    files: ['test/core/outage.test.ts'],
  },
  {
    promise: 'Answers, cancels and starts take effect once a worker is back',
    files: ['test/core/without-workers.test.ts'],
  },
  {
    promise:
      'One of several answers to a question counts, also without a worker, and each sender learns which',
    files: ['test/core/queued-answers.test.ts'],
  },
  {
    promise: 'Progress never decreases',
    files: ['test/progress/progress.test.ts'],
  },
  {
    promise: 'A result of megabytes completes, is linked to and stays out of history',
    files: ['test/core/large-values.test.ts'],
  },
  {
    promise: 'The server refuses bad input before anything starts and says what to correct',
    files: ['test/core/bad-input.test.ts', 'test/http-jobs/bad-input.test.ts'],
  },
  {
    promise: 'One idempotency key is one operation on every protocol',
    files: ['test/idempotency/keys.test.ts'],
  },
  {
    promise: 'No random sequence of calls over all protocols contradicts the record',
    files: ['test/model/model.test.ts', 'test/model/protocols.test.ts'],
  },
  {
    promise: 'The kept history of each workflow replays with the code of today',
    files: ['test/histories/replay.test.ts'],
  },
  {
    promise: 'An operation ends on the release that it began on, and a rollback strands nothing',
    files: ['test/versioning/releases.test.ts'],
  },
  {
    promise: 'An edit that does not replay an open operation is refused, and others are not held up by it',
    files: ['test/versioning/edits.test.ts'],
  },
  {
    promise: 'A client behind a balancer continues while each of two servers is killed',
    files: ['test/proxy/two-servers.test.ts'],
  },
  {
    promise: 'A stopping server answers every wait with how to continue',
    files: ['test/shutdown/http.test.ts'],
  },
  {
    promise: 'The server passes the official conformance suite',
    files: ['test/conformance/server.test.ts'],
  },
  {
    promise: 'A subscriber hears of each state of a task, up to its result',
    files: ['test/subscriptions/http.test.ts'],
  },
  {
    promise: 'A client of 2025-11-25 runs tasks and resumes a wait at another server',
    files: ['test/revision-2025-11-25/tasks.test.ts', 'test/revision-2025-11-25/sessions.test.ts'],
  },
  {
    promise: 'The example of SEP-1391 runs as it is written',
    files: ['test/sep-1391/document.test.ts', 'test/sep-1391/tokens.test.ts'],
  },
  {
    promise: 'The example of two-stage returns runs as it is written',
    files: ['test/two-stage/document.test.ts', 'test/two-stage/streams.test.ts'],
  },
  {
    promise: 'A plain client gets a token, the next action, a question and the result',
    files: ['test/plain/contract.test.ts', 'test/plain/questions.test.ts', 'test/plain/waits.test.ts'],
  },
  {
    promise: 'An HTTP client starts, follows and collects jobs, and gets every event once',
    files: ['test/http-jobs/kickoff.test.ts', 'test/http-jobs/jobs.test.ts', 'test/http-jobs/events.test.ts'],
  },
  {
    promise: 'The operation tools show, list, answer and cancel operations',
    files: [
      'test/operation-tools/get.test.ts',
      'test/operation-tools/list.test.ts',
      'test/operation-tools/answer.test.ts',
      'test/operation-tools/cancel.test.ts',
    ],
  },
  {
    promise: 'A message wakes one waiting agent, survives kills and is answered once',
    files: ['test/mailbox/messages.test.ts', 'test/mailbox/sessions.test.ts'],
  },
  {
    promise: 'Nothing but the health is served without a valid key, and a revoked key ends its streams',
    files: ['test/auth/keys.test.ts'],
  },
  {
    promise: 'A server accepts access tokens of its authorization server only',
    files: ['test/auth/access-tokens.test.ts'],
  },
  {
    promise: "A caller gets the same answer for another caller's operation as for an unknown one",
    files: ['test/auth/isolation.test.ts'],
  },
  {
    promise: 'A role gives exactly the rights in the policy file, and an approval asks for its role',
    files: ['test/auth/policy-file.test.ts', 'test/auth/approvals.test.ts'],
  },
  {
    promise: 'A workflow that the server has not started has no effect',
    files: ['test/auth/signed-starts.test.ts'],
  },
  {
    promise: 'A caller over a limit is refused, and others are served',
    files: ['test/auth/limits.test.ts'],
  },
  {
    promise: 'A page of another origin gets nothing',
    files: ['test/auth/origins.test.ts', 'test/auth/web-pages.test.ts'],
  },
  {
    promise: 'A caller of analyze_dataset reads the data folders only, and never writes SQL',
    files: ['test/analyze_dataset/safety.test.ts'],
  },
  {
    promise: 'A data file that crashes its reader fails its own operation, and no other',
    files: ['test/analyze_dataset/process.test.ts'],
  },
  {
    promise: 'A pipeline runs with its inputs, conditions, retries and outputs',
    files: ['test/pipelines/language.test.ts', 'test/pipelines/run.test.ts'],
  },
  {
    promise: 'An approval stops a job until somebody answers',
    files: ['test/pipelines/run.test.ts'],
  },
  {
    promise: 'A step runs on when its worker is killed, and the next worker adopts it',
    files: ['test/pipelines/kills.test.ts'],
  },
  {
    promise:
      'A cancel ends the running step in good order, and a resume continues after the last finished one',
    files: ['test/pipelines/resume.test.ts'],
  },
  {
    promise: 'A secret reaches its step and no log',
    files: ['test/pipelines/run.test.ts', 'test/pipelines/steps-mask.test.ts'],
  },
  {
    promise: 'A workflow that knows nothing of Longhaul runs as a tool',
    files: ['test/external-workflows/odd.test.ts'],
  },
  {
    promise: "An author's workflow asks, cleans up and ends at its maximum duration",
    files: ['test/authoring/helpers.test.ts'],
  },
  {
    promise: 'A reader of docs/writing-a-tool.md gets a tool that runs',
    files: ['test/authoring/writing-a-tool.test.ts'],
  },
  {
    promise: 'A tool with an odd schema, or one that cannot be used, takes no other tool away',
    files: ['test/schemas/odd-tools.test.ts'],
  },
  {
    promise: 'longhaul check names every problem with its file and line',
    files: ['test/authoring/check.test.ts'],
  },
  {
    promise: 'The command line calls, watches, answers and cancels, and shows scripts how it ended',
    files: ['test/cli/client.test.ts'],
  },
  {
    promise: 'up restarts killed parts and refuses a second up, and down ends everything',
    files: ['test/stack/supervisor.test.ts'],
  },
  {
    promise: 'Clients over stdio share one stack',
    files: ['test/stack/stdio.test.ts'],
  },
  {
    promise: 'A home is for its user alone, and its backup works elsewhere',
    files: ['test/stack/private-home.test.ts', 'test/stack/backup.test.ts'],
  },
  {
    promise: 'A row in test/suites.ts covers every suite and every room of the source',
    files: ['test/repository/suites.test.ts'],
  },
];

/** All files of the proof. */
export const proofFiles = (proof = PROOF): string[] =>
  [...new Set(proof.flatMap(({ files }) => files))].sort();
