/** The definitions that the engine and workflows share: their names are in histories, their types are checked. */
import { expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { setHandler } from '@temporalio/workflow';
import * as wire from '../../operations/wire/index.js';

test('definitions keep the names that histories and foreign clients have', () => {
  const names = Object.entries(wire)
    .filter(([, value]) => typeof value === 'object' && 'type' in value)
    .map(([key, { type, name }]: [string, any]) => [key, `${type} ${name}`]);
  expect(Object.fromEntries(names)).toEqual({
    OPERATION_QUERY: 'query operation',
    PROVIDE_INPUT_UPDATE: 'update provide_input',
    PROVIDE_INPUT_SIGNAL: 'signal provide_input',
    CANCEL_OPERATION_SIGNAL: 'signal cancel_operation',
    PART_NOTICE_SIGNAL: 'signal longhaul_part',
  });
});

/** Only compiled: each line fails `npm run types` when its payload is not checked. */
export async function wrongPayloads(handle: WorkflowHandle): Promise<void> {
  // @ts-expect-error no answer
  await handle.signal(wire.PROVIDE_INPUT_SIGNAL, { key: 'k', answerId: 'a' });
  // @ts-expect-error no such action
  await handle.executeUpdate(wire.PROVIDE_INPUT_UPDATE, {
    args: [{ key: 'k', answerId: 'a', answer: 'yes' }],
  });
  // @ts-expect-error the state has no such field
  void (await handle.query(wire.OPERATION_QUERY)).nonesuch;
  // @ts-expect-error a reason is a string
  setHandler(wire.CANCEL_OPERATION_SIGNAL, (reason: number) => void reason);
}
