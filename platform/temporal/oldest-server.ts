/** Oldest Temporal server with the updates, start conflict policies and pending cancels that the engine uses. */
export const OLDEST_SERVER = '1.29.0';
