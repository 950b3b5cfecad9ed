import { brokenConnection, troubleOfStatus } from '../failures.ts';
import type { Explanation, StoreTrouble } from '../store.ts';

interface S3Error extends Error {
  readonly Code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const troubles: Readonly<Record<string, StoreTrouble>> = {
  NoSuchKey: 'no-object',
  NotFound: 'no-object',
  NoSuchBucket: 'no-bucket',
  NoSuchUpload: 'unreachable', // somebody has cleared it away, or it was complete and only the answer was lost
  AccessDenied: 'denied',
  Forbidden: 'denied',
  InvalidAccessKeyId: 'denied',
  SignatureDoesNotMatch: 'denied',
  ExpiredToken: 'denied',
  InvalidToken: 'denied',
  TokenRefreshRequired: 'denied',
  AccountProblem: 'denied',
  XAdminUserNotFound: 'denied', // what versitygw says of a key that it does not know
  CredentialsProviderError: 'no-credentials',
  QuotaExceeded: 'full',
  EntityTooLarge: 'rejected',
};

export function explainS3(thrown: unknown): Explanation {
  const broken = brokenConnection(thrown);
  if (broken !== undefined) return broken;
  if (!(thrown instanceof Error)) return { trouble: 'rejected', says: String(thrown) };
  const error = thrown as S3Error;
  const code = error.Code ?? error.name;
  const status = error.$metadata?.httpStatusCode;
  return { trouble: troubles[code] ?? troubleOfStatus(status), says: told(error, code, status) };
}

/** Answers to HEAD have no text, and the SDK then calls them "UnknownError". */
function told({ message }: Error, code: string, status: number | undefined): string {
  const words = message === '' || message.startsWith('Unknown') ? 'the server gave no reason' : message;
  return `${words} (${[code, ...(status === undefined ? [] : [`HTTP ${status}`])].join(', ')})`;
}
