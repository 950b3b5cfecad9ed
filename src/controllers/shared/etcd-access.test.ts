import { describe, expect, it } from 'vitest';
import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../apis/improbable-v1alpha1/dialect.ts';
import { accessTo, etcdArguments, etcdMounts } from './etcd-access.ts';

const metadata = { name: 'db', namespace: 'n', uid: 'u' };
const access = (dialect: typeof coreos, spec: object, status: object) => {
  const read = dialect.read({ apiVersion: '', kind: '', metadata, spec, status });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return accessTo(read.value);
};
const voter = [{ name: 'db-0', id: 'a', role: 'voter' }];

describe('an agent connects to a cluster', () => {
  it('at the endpoints of all voters', () => {
    const plain = access(improbable, { replicas: 1 }, { members: voter });
    expect(plain).toEqual({ endpoints: ['http://db-0.db.n.svc:2379'], tlsSecret: undefined, userSecret: undefined });
    expect([etcdArguments(plain), etcdMounts(plain)]).toEqual([['--endpoints', plain.endpoints[0]], []]);
  });

  it('with the certificate that the spec names for the operator', () => {
    const given = { member: { peerSecret: 'p', serverSecret: 's' }, operatorSecret: 'o' };
    const status = { memberStatus: voter };
    expect(access(coreos, { size: 1, TLS: { static: given } }, status).tlsSecret).toBe('o');
    expect(access(improbable, { replicas: 1, tls: { static: given } }, { members: voter }).tlsSecret).toBe('o');
  });

  it('with the client Secret of the operator if the operator issues certificates', () => {
    const managed = access(improbable, { replicas: 1, tls: { managed: {} } }, { members: voter });
    expect(managed).toMatchObject({ endpoints: ['https://db-0.db.n.svc:2379'], tlsSecret: 'db-client-tls' });
  });
});
