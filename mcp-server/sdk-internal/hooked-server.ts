/**
 * Private door to @modelcontextprotocol/server, seen in 2.4.0: `_wrapHandler`, which its documentation calls a hook for subclasses.
 * Registered handlers run inside the SDK's checks, so they can't shorten and trace the checks' errors. The SDK also answers
 * `server/discover` and `ping` itself.
 */
import { Server, type Result, type ServerContext } from '@modelcontextprotocol/server';

export abstract class HookedServer extends Server {
  protected override _wrapHandler(
    ...[method, handler]: Parameters<Server['_wrapHandler']>
  ): ReturnType<Server['_wrapHandler']> {
    const handle = super._wrapHandler(method, handler);
    // Not a function made in the constructor: the SDK registers handlers before this object has fields.
    return (request, context) => this.around(method, request.params, context, () => handle(request, context));
  }

  /** Handles a request of any method. @param handle checks the request, handles it, and checks the result */
  protected abstract around(
    method: string,
    params: unknown,
    context: ServerContext,
    handle: () => Promise<Result>,
  ): Promise<Result>;
}
