/** For the documentation of tools, for models. */
export const RATES_LINE =
  'Beyond the limits of the server a call is refused as rate_limited, retryable, and says after how many seconds; nothing was started.';
