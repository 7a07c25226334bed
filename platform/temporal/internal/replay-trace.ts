/**
 * Private door to @temporalio/worker and @temporalio/workflow, seen in 1.24.0: the globals of the sandbox, and the activator's methods.
 * Interceptors see the commands of an activation, and not the code that made them.
 *
 * A copy of a bundle that reports its commands: each with the place in the code that made it. Only used to explain why a history
 * doesn't replay; whether it does is decided with the bundle itself. Commands are the same in both.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';

/** Name of the sink that gets the reports. */
export const TRACE_SINK = 'longhaulReplay';

/** Temporal's commands as the sandbox makes them: one field is set, besides metadata. */
export type SandboxCommand = Record<string, Record<string, unknown> | null | undefined>;

/** The commands of one activation. */
export interface TracedActivation {
  /** Last event of history that the workflow knows: that of the workflow task's start. */
  historyLength: number;
  commands: { command: SandboxCommand; stack: string }[];
  /** Stacks of the promises that the code waits for. */
  waiting: string[];
}

/** The SDK's object for a workflow, as far as it is used. */
interface Activator {
  info: { historyLength: number };
  pushCommand(command: object, complete?: boolean): void;
  getStackTraces(): { formatted: string }[];
  sinkCalls: object[];
}

type Factory = () => WorkflowInterceptors;

/** The code of a bundle with the tracer, which runs as the last of the bundle's interceptors. */
export function tracedBundle(code: string): string {
  // Behind the code and before its source map, so that all positions stay.
  const end = code.lastIndexOf('//# sourceMappingURL=data:');
  if (end < 0) throw new Error('the bundle of workflows has no source map');
  return `${code.slice(0, end)}\n;(${installTracer.toString()})(${JSON.stringify(TRACE_SINK)});\n${code.slice(end)}`;
}

/** Runs in the sandbox, as text: nothing outside of this function can be used. */
function installTracer(sinkName: string): void {
  const STACK_FRAMES = 50;
  const sandbox = globalThis as unknown as {
    __TEMPORAL__: { importInterceptors(): { interceptors: Factory }[] };
    __TEMPORAL_ACTIVATOR__: Activator;
    longhaulStateChanged?: () => void;
  };
  Error.stackTraceLimit = STACK_FRAMES;
  const stack = () => new Error('stack').stack ?? '';
  /** Stack of the first change of the operation's state since it was last written; one workflow runs at a time. */
  let changed: string | undefined;
  sandbox.longhaulStateChanged = () => {
    changed ??= stack();
  };
  const interceptors: Factory = () => {
    const activator = sandbox.__TEMPORAL_ACTIVATOR__;
    const stacks = new WeakMap<object, string>();
    const push = activator.pushCommand.bind(activator);
    activator.pushCommand = (command, complete) => {
      stacks.set(command, stack());
      push(command, complete);
    };
    return {
      internals: [
        {
          concludeActivation(input, next) {
            const output = next(input);
            const commands = output.commands.map((command) => ({
              command,
              // Written at the activation's end: by the runtime, for the code that changed the state.
              stack: stacks.get(command) ?? changed ?? stack(),
            }));
            changed = undefined;
            const { historyLength } = activator.info;
            const waiting = activator.getStackTraces().map(({ formatted }) => formatted);
            activator.sinkCalls.push({
              ifaceName: sinkName,
              fnName: 'activation',
              args: [{ historyLength, commands, waiting }],
              workflowInfo: activator.info,
            });
            return output;
          },
        },
      ],
    };
  };
  const bundle = sandbox.__TEMPORAL__;
  const imported = bundle.importInterceptors.bind(bundle);
  bundle.importInterceptors = () => [...imported(), { interceptors }];
}
