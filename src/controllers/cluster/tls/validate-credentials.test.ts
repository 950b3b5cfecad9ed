import { expect, it } from 'vitest';
import { credentialsIn } from './validate-credentials.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const judged = (data: Readonly<Record<string, string>>) =>
  credentialsIn({ name: 'root-user', data }, { name: 'root-user', realm: 'u' });

it('a valid Secret gives username and password unchanged', () => {
  expect(judged({ username: base64('root'), password: base64(' a b ') })).toEqual({
    identity: { credentials: { user: 'root', password: ' a b ', realm: 'u' } },
  });
});

it('a problem names the missing key, or what to do if the Secret cannot be read', () => {
  expect(judged({ username: base64('root') }).problem).toBe('Secret root-user: password is missing or empty: add it');
  expect(judged({ username: '', password: base64('x') }).problem).toContain('username is missing or empty');
  const about = { name: 'root-user', realm: 'u' };
  expect(credentialsIn('missing', about).problem).toContain('create it with username and password');
  expect(credentialsIn('hidden', about).problem).toContain('grant it the right to get secrets');
});
