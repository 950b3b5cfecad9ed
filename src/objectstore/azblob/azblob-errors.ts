import { brokenConnection, troubleOfStatus } from '../failures.ts';
import type { Explanation, StoreTrouble } from '../store.ts';

interface AzureError extends Error {
  readonly code?: string;
  readonly statusCode?: number;
  readonly details?: { readonly errorCode?: string };
}

const troubles: Readonly<Record<string, StoreTrouble>> = {
  ContainerNotFound: 'no-bucket',
  ContainerBeingDeleted: 'no-bucket',
  BlobNotFound: 'no-object',
  Md5Mismatch: 'damaged',
  CredentialUnavailableError: 'no-credentials',
  AggregateAuthenticationError: 'no-credentials',
  AuthenticationError: 'denied',
};

export function explainAzblob(thrown: unknown): Explanation {
  const broken = brokenConnection(thrown);
  if (broken !== undefined) return broken;
  if (!(thrown instanceof Error)) return { trouble: 'rejected', detail: String(thrown) };
  const { statusCode, message } = thrown as AzureError;
  const code = codeOf(thrown);
  const ending = [code, ...(statusCode === undefined ? [] : [`HTTP ${statusCode}`])].join(', ');
  const trouble = troubles[code] ?? (mismatch.test(message) ? 'damaged' : troubleOfStatus(statusCode));
  return { trouble, detail: `${firstLine(message)} (${ending})` };
}

/** Message of servers other than Azure, which have no error code for a wrong MD5. */
const mismatch = /MD5 (?:doesn't|does not|did not) match/i;

const codeOf = ({ details, code, name }: AzureError): string => details?.errorCode ?? code ?? name;

const firstLine = (message: string): string =>
  message.trim().split('\n')[0]?.slice(0, 300) || 'the server gave no reason';
