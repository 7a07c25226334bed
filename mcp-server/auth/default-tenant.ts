/** Tenant of credentials that name none: API keys, certificates, and what an operator signs. */
export const DEFAULT_TENANT = 'default';
