import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Legal and finance are asked the same. */
export const approval = z.object({
  approve: z.boolean().describe('Approve?'),
  comment: z.string().max(500).default('').describe('Reason, for the record.'),
});

export const vendorSchema = z.object({
  name: z.string().min(1).max(100).describe('Registered name.'),
  country: z.string().length(2).describe('ISO 3166 code, e.g. DE.'),
  iban: z.string().max(42).describe('Bank account.'),
  yearlySpend: z.number().int().min(0).describe('Expected spend in EUR a year.'),
  contacts: z
    .array(z.object({ name: z.string().max(100), email: z.email() }))
    .min(1)
    .max(20)
    .describe('People who get access to the supplier portal.'),
  answerHours: z.number().positive().max(720).default(24).describe('Time that each approver has, in hours.'),
});

export default defineTool({
  name: 'onboard_vendor',
  description: {
    does: 'Onboards a vendor: CRM, background check, contract, portal access, payment account; asks legal and finance.',
    useWhen:
      'Use it for each new vendor, once. An approver who does not answer in time is replaced by their superior.',
    returns: 'whether the vendor is onboarded or refused, and the record in each system.',
  },
  input: vendorSchema,
  output: z.object({
    outcome: z.enum(['onboarded', 'refused']),
    reason: z.string(),
    records: z.array(
      z.object({ step: z.string(), state: z.enum(['unknown', 'done', 'undone']), id: z.string().optional() }),
    ),
  }),
  deadlineSeconds: 12 * 3600,
  cleanupSeconds: 6 * 3600,
  estimate: { seconds: 10 },
  cleanup: 'the records are removed from all systems, the last one first.',
  retryableErrors: [],
  example: {
    input: {
      name: 'Brightwater Analytics GmbH',
      country: 'DE',
      iban: 'DE89 3704 0044 0532 0130 00',
      yearlySpend: 48000,
      contacts: [{ name: 'Mira Vogt', email: 'mira.vogt@brightwater.example' }],
    },
    output: {
      outcome: 'onboarded',
      reason: 'approved by finance',
      records: [{ step: 'supplier', state: 'done', id: 'SUP-1001' }],
    },
  },
  questions: { approval },
});
