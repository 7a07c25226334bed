/** The policy file: roles, their members, and cases that `longhaul policy test` checks. */
import { z } from 'zod';
import { groupName, identityShape } from '../../../operations/principal.js';
import { parseYamlSettings, readYamlSettings } from '../../../platform/settings/yaml-file.js';

/** Actions on operations that a role may allow. */
export const VERBS = ['read', 'answer', 'cancel', 'resume', 'delete'] as const;
export type Verb = (typeof VERBS)[number];

/** Grants every verb. */
const OPERATE = 'operate';
/** Grants the tools of the mailbox. */
export const MAILBOX = 'mailbox';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const TOOL_PATTERN = /^[A-Za-z0-9_*]{1,64}$/;

const name = z.string().regex(NAME, 'expected a letter, then letters, digits, _ or -, at most 64 characters');
const verbs = z.array(
  z.enum([...VERBS, OPERATE], `expected ${VERBS.join(', ')} or ${OPERATE}`),
  'expected a list',
);
const ownRights = z.array(
  z.enum([...VERBS, OPERATE, MAILBOX], `expected ${VERBS.join(', ')}, ${OPERATE} or ${MAILBOX}`),
  'expected a list',
);

const MEMBER = 'expected everyone, or a map with tenant, subject, group or scope';

const member = z
  .strictObject(
    {
      tenant: identityShape.tenant.optional(),
      subject: identityShape.subject.optional(),
      group: groupName.optional(),
      scope: z.string().min(1).optional(),
    },
    MEMBER,
  )
  .refine((given) => Object.keys(given).length > 0, 'expected tenant, subject, group or scope; got none')
  .refine(
    ({ subject, tenant }) => subject === undefined || tenant !== undefined,
    'expected the tenant of the subject too: subjects are unique in their tenant only',
  );
const EVERYONE = 'everyone';

const role = z.strictObject(
  {
    members: z.array(z.union([z.literal(EVERYONE), member], MEMBER), 'expected a list'),
    tools: z
      .array(
        z.string().regex(TOOL_PATTERN, 'expected the name of a tool, with * for any characters'),
        'expected a list',
      )
      .default([]),
    own: ownRights.default([]),
    tenant: verbs.default([]),
  },
  'expected a map with members, tools, own and tenant',
);

const caller = z.strictObject({
  ...identityShape,
  groups: z.array(groupName).default([]),
  scopes: z.array(z.string().min(1)).default([]),
});

/** `start TOOL`, or a verb with the operations that it applies to: `read own`, `cancel tenant`. */
const right = z
  .string()
  .regex(
    new RegExp(`^(start [A-Za-z][A-Za-z0-9_]*|(${VERBS.join('|')}) (own|tenant)|${MAILBOX})$`),
    `expected start TOOL, ${MAILBOX}, or one of ${VERBS.join(', ')} with own or tenant`,
  );

const testCase = z.strictObject({
  name: z.string().min(1),
  caller,
  roles: z.array(name).optional(),
  can: z.array(right).default([]),
  cannot: z.array(right).default([]),
});

const policyFile = z.strictObject(
  {
    roles: z.record(name, role, 'expected a map of names and roles'),
    cases: z.array(testCase, 'expected a list').default([]),
  },
  'expected a map with roles and cases',
);

export type PolicyFile = z.output<typeof policyFile>;
export type PolicyRole = PolicyFile['roles'][string];
export type PolicyCase = PolicyFile['cases'][number];

const FORMAT = {
  what: 'policy file',
  schema: policyFile,
  keys: [policyFile, role, member, caller, testCase].flatMap(({ shape }) => Object.keys(shape)),
};

/** @throws SettingsError with a line for each problem: `file:line:column: path: what was expected` */
export function readPolicyFile(path: string): PolicyFile {
  return readYamlSettings(path, FORMAT);
}

/** @throws SettingsError as {@link readPolicyFile} */
export function parsePolicy(text: string, path: string): PolicyFile {
  return parseYamlSettings(text, path, FORMAT);
}
