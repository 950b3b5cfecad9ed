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
  if (!(thrown instanceof Error)) return { trouble: 'rejected', says: String(thrown) };
  const { statusCode, message } = thrown as AzureError;
  const word = wordOf(thrown);
  const ending = [word, ...(statusCode === undefined ? [] : [`HTTP ${statusCode}`])].join(', ');
  const trouble = troubles[word] ?? (mismatch.test(message) ? 'damaged' : troubleOfStatus(statusCode));
  return { trouble, says: `${firstLine(message)} (${ending})` };
}

/** Servers other than Azure's have no code of their own for it. */
const mismatch = /MD5 (?:doesn't|does not|did not) match/i;

const wordOf = ({ details, code, name }: AzureError): string => details?.errorCode ?? code ?? name;

const firstLine = (message: string): string =>
  message.trim().split('\n')[0]?.slice(0, 300) || 'the server gave no reason';
