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
  NoSuchUpload: 'unreachable', // aborted by a lifecycle rule, or completed and only the answer was lost
  AccessDenied: 'denied',
  Forbidden: 'denied',
  InvalidAccessKeyId: 'denied',
  SignatureDoesNotMatch: 'denied',
  ExpiredToken: 'denied',
  InvalidToken: 'denied',
  TokenRefreshRequired: 'denied',
  AccountProblem: 'denied',
  XAdminUserNotFound: 'denied', // versitygw: unknown access key
  CredentialsProviderError: 'no-credentials',
  QuotaExceeded: 'full',
  EntityTooLarge: 'rejected',
};

export function explainS3(thrown: unknown): Explanation {
  const broken = brokenConnection(thrown);
  if (broken !== undefined) return broken;
  if (!(thrown instanceof Error)) return { trouble: 'rejected', detail: String(thrown) };
  const error = thrown as S3Error;
  const code = error.Code ?? error.name;
  const status = error.$metadata?.httpStatusCode;
  return { trouble: troubles[code] ?? troubleOfStatus(status), detail: messageOf(error, code, status) };
}

/** Answers to HEAD have no body; the SDK reports them as "UnknownError". */
function messageOf({ message }: Error, code: string, status: number | undefined): string {
  const text = message === '' || message.startsWith('Unknown') ? 'the server gave no reason' : message;
  return `${text} (${[code, ...(status === undefined ? [] : [`HTTP ${status}`])].join(', ')})`;
}
