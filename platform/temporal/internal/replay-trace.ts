/**
 * Private door to @temporalio/worker and @temporalio/workflow, seen in 1.24.0: the sandbox's globals and the activator's methods.
 * Interceptors see an activation's commands, but not the code that made them.
 *
 * Makes a copy of a bundle that reports each command with its place in the code. Used only to explain why a history doesn't
 * replay; the bundle itself decides whether it does. Both make the same commands.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';

/** Name of the sink that gets the reports. */
export const TRACE_SINK = 'longhaulReplay';

/** Temporal's commands as the sandbox makes them: one field is set, besides metadata. */
export type SandboxCommand = Record<string, Record<string, unknown> | null | undefined>;

export interface TracedActivation {
  /** Last history event that the workflow knows: the start of the workflow task. */
  historyLength: number;
  commands: { command: SandboxCommand; stack: string }[];
  /** Stacks of the promises that the code waits for. */
  waiting: string[];
}

/** The parts that we use of the SDK's workflow object. */
interface Activator {
  info: { historyLength: number };
  pushCommand(command: object, complete?: boolean): void;
  getStackTraces(): { formatted: string }[];
  sinkCalls: object[];
}

type Factory = () => WorkflowInterceptors;

/** Adds the tracer to a bundle's code, as the last interceptor. */
export function tracedBundle(code: string): string {
  // Insert after the code and before its source map, so that all positions stay.
  const end = code.lastIndexOf('//# sourceMappingURL=data:');
  if (end < 0) throw new Error('the bundle of workflows has no source map');
  return `${code.slice(0, end)}\n;(${installTracer.toString()})(${JSON.stringify(TRACE_SINK)});\n${code.slice(end)}`;
}

/** Runs in the sandbox, as text, so it can't use anything outside this function. */
function installTracer(sinkName: string): void {
  const STACK_FRAMES = 50;
  const sandbox = globalThis as unknown as {
    __TEMPORAL__: { importInterceptors(): { interceptors: Factory }[] };
    __TEMPORAL_ACTIVATOR__: Activator;
    longhaulStateChanged?: () => void;
  };
  Error.stackTraceLimit = STACK_FRAMES;
  const stack = () => new Error('stack').stack ?? '';
  /** Stack of the first unwritten change of the operation's state. One workflow runs at a time. */
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
              // The runtime writes it at the activation's end, for the code that changed the state.
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
