/** Tenant of callers whose credential names none: API keys, certificates, and what an operator signs. */
export const DEFAULT_TENANT = 'default';
