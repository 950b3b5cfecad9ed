import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withoutSecrets } from './redact-result.ts';
import type { AgentResult } from './result.ts';

const failed = (message: string): AgentResult => ({ ok: false, trouble: 'denied', mayPass: false, message }) as never;

const secretWith = (files: Readonly<Record<string, string>>): string => {
  const directory = mkdtempSync(join(tmpdir(), 'redact-result-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
};

it('the message of a result contains no value of a mounted Secret', async () => {
  const credentials = secretWith({
    credentials: '[default]\naws_access_key_id = AKIA1234\naws_secret_access_key = wJalrXUtnFEMI\n',
    'credentials.json': JSON.stringify({ private_key: 'MIIEvQIBADAN', client_email: 'backup@example.com' }),
  });
  const etcdUser = secretWith({ username: 'root-user', password: 'correct horse' });
  const message = 'root-user: AKIA1234, wJalrXUtnFEMI, MIIEvQIBADAN and correct horse, but not backup@example.com';
  const redacted = await withoutSecrets(failed(message), { credentials, etcdUser, url: 's3://b/k' });
  expect(redacted).toMatchObject({
    message: 'root-user: [redacted], [redacted], [redacted] and [redacted], but not backup@example.com',
  });
});

it('warnings of a result contain no values of Secrets and no credentials, and its facts are unchanged', async () => {
  const etcdUser = secretWith({ username: 'root-user', password: 'correct horse' });
  const warnings = ['root-user was refused with correct horse', 'GET https://u:p4ss@store/k failed', 'no leader'];
  const facts = { ok: true, seconds: 1, url: 's3://b/k', size: 3 } as const;
  expect(await withoutSecrets({ ...facts, warnings }, { etcdUser })).toEqual({
    ...facts,
    warnings: ['root-user was refused with [redacted]', 'GET https://[redacted]@store/k failed', 'no leader'],
  });
  expect(await withoutSecrets(facts, { etcdUser })).toEqual(facts);
});

it('a result of an agent without Secrets is unchanged', async () => {
  expect(await withoutSecrets(failed('no such bucket'), { url: 's3://b/k' })).toMatchObject({
    message: 'no such bucket',
  });
});
