import { describe, expect, it } from 'vitest';
import { redacted, withoutCredentials } from './redact.ts';

describe('redaction', () => {
  it.each([
    ['bad key -----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY----- here', 'bad key [redacted] here'],
    ['cut off -----BEGIN EC PRIVATE KEY-----\nMIIabc', 'cut off [redacted]'],
    ['dial https://root:s3cret@db:2379 failed', 'dial https://[redacted]@db:2379 failed'],
    ['password=hunter2, user=root', 'password=[redacted], user=root'],
    ['{"token":"abcdefgh"}', '{"token":"[redacted]"}'],
    ['sent Bearer abcdefgh.ijkl', 'sent Bearer [redacted]'],
    ['nothing of the kind: https://db:2379, revision 7', 'nothing of the kind: https://db:2379, revision 7'],
  ])('removes credentials: %s', (text, redactedText) => {
    expect(withoutCredentials(text)).toBe(redactedText);
  });

  it('removes known values and each of their lines', () => {
    expect(redacted('no such user AKIA123/first-line', ['AKIA123\n', 'first-line\nsecond', 'no'])).toBe(
      'no such user [redacted]/[redacted]',
    );
  });

  it('removes known values as they are written in a URL and in base64', () => {
    const quoted = 'GET /?sts=abc%2Fdef%2B%3D%3D failed for YWJjL2RlZis9PQ==';
    expect(redacted(quoted, ['abc/def+=='])).toBe('GET /?sts=[redacted] failed for [redacted]==');
    expect(redacted('a lone surrogate', ['\ud800-lone-surrogate'])).toBe('a lone surrogate');
  });
});
