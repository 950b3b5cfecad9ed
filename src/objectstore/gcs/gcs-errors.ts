import { brokenConnection, troubleOfStatus } from '../failures.ts';
import type { Explanation, StoreTrouble } from '../store.ts';

interface GcsError extends Error {
  readonly code?: number | string;
  readonly status?: number | string;
}

export function explainGcs(thrown: unknown): Explanation {
  const broken = brokenConnection(thrown);
  if (broken !== undefined) return broken;
  if (!(thrown instanceof Error)) return { trouble: 'rejected', detail: String(thrown) };
  if (lacksCredentials.test(thrown.message)) return { trouble: 'no-credentials', detail: firstLine(thrown.message) };
  const { code, status, message } = thrown as GcsError;
  const number = [code, status].map(Number).find((each) => Number.isInteger(each) && each >= 400);
  const detail = `${firstLine(message)}${number === undefined ? '' : ` (HTTP ${number})`}`;
  if (number === 404 && /bucket/i.test(message)) return { trouble: 'no-bucket', detail };
  return { trouble: troubleIn(thrown) ?? troubleOfStatus(number), detail };
}

function troubleIn({ code, message }: GcsError): StoreTrouble | undefined {
  if (mismatch.test(String(code))) return 'damaged';
  return tokenRefused.test(message) ? 'denied' : undefined;
}

const lacksCredentials = /default credentials|Anonymous caller|client_email field|private_key field/i;
/** Error codes of the library for an object with another MD5 than the bytes sent. */
const mismatch = /^(?:FILE_NO_UPLOAD|MD5_NOT_AVAILABLE)/;
const tokenRefused = /invalid_grant|invalid_token|No refresh token|Invalid Credentials/i;

const firstLine = (message: string): string =>
  message.trim().split('\n')[0]?.slice(0, 300) || 'the server gave no reason';
