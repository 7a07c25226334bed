/** Scenarios of the official suite that apply to Longhaul, and those that don't. An unlisted scenario makes the test fail. */

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;

/** Scenarios that must pass, in every revision that they are for. */
export const APPLIES: ReadonlySet<string> = new Set([
  'server-initialize',
  'server-session-lifecycle',
  'server-stateless',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'tools-call-with-progress',
  'tools-call-elicitation',
  'json-schema-2020-12',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'server-sse-polling',
  'server-sse-multiple-streams',
  'resources-list',
  'prompts-list',
  'sep-2164-resource-not-found',
  'dns-rebinding-protection',
  'caching',
  'http-header-validation',
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
  'input-required-result-request-state',
  'input-required-result-multi-round',
  'input-required-result-missing-input-response',
  'input-required-result-result-type',
  'input-required-result-unsupported-methods',
  'input-required-result-tampered-state',
  'input-required-result-validate-input',
]);

const TEXT_ONLY =
  'A tool gives one structured result, its text, and links to its files: a workflow returns data, not images, sound or embedded resources.';
const NO_PROMPTS = 'Longhaul has no prompts.';
const NO_SAMPLING = 'Longhaul never asks the client for a model.';
const OWN_RESOURCES =
  'Resources are the logs, artifacts and results of operations; a server has no others, and not the one that the scenario reads.';
const OWN_FORM =
  'A question before the start asks for an argument, by the name of the argument; the scenario answers a field of another name.';
const NO_SKILLS = 'Longhaul does not declare the skills extension.';

/** Scenarios that do not apply -> reason. */
export const DOES_NOT_APPLY: Readonly<Record<string, string>> = {
  'logging-set-level':
    'Longhaul sends no log messages: the output of a step is in its log, which clients read.',
  'tools-call-with-logging':
    'Longhaul sends no log messages: the output of a step is in its log, which clients read.',
  'completion-complete': 'Longhaul has no prompts and no templates with arguments to complete.',
  'tools-call-image': TEXT_ONLY,
  'tools-call-audio': TEXT_ONLY,
  'tools-call-embedded-resource': TEXT_ONLY,
  'tools-call-mixed-content': TEXT_ONLY,
  'tools-call-sampling': NO_SAMPLING,
  'input-required-result-basic-sampling': NO_SAMPLING,
  'input-required-result-capability-check': `${NO_SAMPLING} The scenario's client has sampling alone.`,
  'input-required-result-basic-list-roots': "Longhaul never asks for the client's roots.",
  'input-required-result-multiple-input-requests':
    "Longhaul asks people, and neither for a model nor for the client's roots.",
  'input-required-result-basic-elicitation': OWN_FORM,
  'input-required-result-ignore-extra-params': OWN_FORM,
  'input-required-result-non-tool-request': NO_PROMPTS,
  'resources-read-text': OWN_RESOURCES,
  'resources-read-binary': OWN_RESOURCES,
  'resources-templates-read': OWN_RESOURCES,
  'resources-subscribe':
    'In 2025-11-25 Longhaul does not declare resources.subscribe: a subscription would be bound to a process.',
  'resources-unsubscribe':
    'In 2025-11-25 Longhaul does not declare resources.subscribe: a subscription would be bound to a process.',
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
  'http-custom-header-server-validation': 'No tool puts an argument into a header (`x-mcp-header`).',
  'tasks-status-notifications': 'The suite itself skips its checks here.',
  'sep-2640-skills-directory': NO_SKILLS,
  'sep-2640-skills-enumeration': NO_SKILLS,
  'sep-2640-skills-manifest': NO_SKILLS,
};

const NO_LIST_CHANGES =
  'Longhaul declares no listChanged: an edited pipeline is noticed at the next tools/list. The suite itself skips it.';

const NO_DELETE =
  'A session is sealed in its ID and in no table, so it can not be deleted: DELETE is answered 405, as the specification allows. The suite itself skips it.';

/** Checks that do not apply, of scenarios that do: scenario -> check -> reason. */
export const CHECKS_THAT_DO_NOT_APPLY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'server-session-lifecycle': {
    'server-session-delete-accepted': NO_DELETE,
    'server-session-terminated-returns-404': NO_DELETE,
  },
  'server-stateless': {
    'sep-2575-server-rejects-undeclared-capability': `${NO_SAMPLING} The refusal without the tasks extension is tested by tasks-required-task-error.`,
    'sep-2575-missing-capability-http-400': `${NO_SAMPLING} The refusal without the tasks extension is tested by tasks-required-task-error.`,
    'sep-2575-server-declares-prompts-in-discover':
      'There are no prompts to declare: prompts/list is answered with an empty list for clients that ask without the capability, and the check treats that as support.',
    'sep-2575-server-sends-prompts-list-changed-on-subscription': NO_LIST_CHANGES,
    'sep-2575-server-sends-tools-list-changed-on-subscription': NO_LIST_CHANGES,
  },
  caching: {
    'sep-2549-resources-read-caching-hints':
      "The list of resources is empty: an operation's are linked from its result. The suite itself skips it.",
  },
};
