import { expect, it } from 'vitest';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { Failure } from '../../../std/failure.ts';
import { issueAll } from './issue.ts';
import { observeCertificates, type SecretContext } from './member-bundle.ts';

const now = new Date('2026-01-01T00:00:00Z');
const metadata = { name: 'db', namespace: 'default', uid: 'u' };
const given = { problems: [], keysFound: {}, entry: {}, lacking: { certificate: undefined, user: undefined } };

it('invalid content in the Secret for members is replaced by certificates', async () => {
  const parsed = coreos.read({ metadata, spec: { size: 3, version: '3.5.35', TLS: { managed: {} } } });
  if (!parsed.ok || parsed.value.managedCertificates === undefined) throw new Error('not managed');
  const { blueprint, managedCertificates: settings } = parsed.value;
  const issued = await issueAll({}, 'authorities', { blueprint, settings, now });
  const nonsense = Object.fromEntries(Object.keys(issued).map((file) => [file, 'nonsense']));
  const there: Readonly<Record<string, object>> = { 'db-issued-tls': issued, 'db-member-tls': nonsense };
  const get = async (_: unknown, { name }: { name: string }): Promise<object> => {
    if (there[name] === undefined) throw new Failure('not-found', name);
    const data = Object.entries(there[name]).map(([file, text]) => [file, Buffer.from(text).toString('base64')]);
    return { metadata: { name, ownerReferences: [{ uid: 'u' }] }, data: Object.fromEntries(data) };
  };
  const context = { client: { get }, now: () => now, mayWriteSecrets: true } as unknown as SecretContext;
  const inputs = {
    given: { ...given, unread: undefined, offered: undefined },
    inUse: ['peer', 'server'] as const,
    idle: [],
  };
  const { seen } = await observeCertificates(parsed.value, inputs, context);
  expect(seen).toMatchObject({ due: 'nothing', staging: { stage: 'trust' }, haveExpired: false });
});
