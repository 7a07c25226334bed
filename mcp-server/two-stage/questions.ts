/** A job's open questions, as fields of its messages. */
import type { OperationRecord } from '../../operations/record.js';
import type { JsonSchema } from '../../operations/schema.js';

export interface Question {
  key: string;
  message: string;
  schema: JsonSchema;
  /** ISO 8601; when the job continues without an answer. */
  expires_at?: string;
  /** Request that answers the question, once `content` is added to its arguments. */
  answer_with: {
    method: 'tools/call';
    params: { name: 'operation_answer'; arguments: { token: string; key: string } };
  };
}

/** Whether the job's questions can be answered. Not once it is being cancelled. */
export function isAsking({ status, cancelRequestedAt }: OperationRecord): boolean {
  return status === 'input_required' && cancelRequestedAt === undefined;
}

/** All open questions. Missing without any. */
export function questionsField(record: OperationRecord): { questions?: Question[] } {
  const { token, inputRequests } = record;
  const open = isAsking(record) ? Object.entries(inputRequests) : [];
  if (open.length === 0) return {};
  return {
    questions: open.map(([key, { message, schema, expiresAt }]) => ({
      key,
      message,
      schema,
      expires_at: expiresAt,
      answer_with: {
        method: 'tools/call',
        params: { name: 'operation_answer', arguments: { token, key } },
      },
    })),
  };
}
