import type { RestoreTools } from './sources.ts';

/** For observing only: steps read Secrets themselves. */
export function withRememberedSecrets(key: string, tools: RestoreTools): RestoreTools {
  const { secrets, client } = tools;
  if (secrets === undefined) return tools;
  return { ...tools, client: { get: secrets.reading(key, client), list: client.list.bind(client) } };
}
