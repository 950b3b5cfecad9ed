import type { RestoreContext } from './context.ts';

/** A context that reads Secrets from memory. For observation only: steps read Secrets from the API server. */
export function withCachedSecrets(key: string, context: RestoreContext): RestoreContext {
  const { secrets, client } = context;
  if (secrets === undefined) return context;
  return { ...context, client: { get: secrets.reading(key, client), list: client.list.bind(client) } };
}
