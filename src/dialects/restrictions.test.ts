import { describe, expect, it } from 'vitest';
import { coreosBackups } from './coreos-v1beta2/backup.ts';
import { coreos } from './coreos-v1beta2/dialect.ts';
import { improbableBackups } from './improbable-v1alpha1/backup.ts';
import { improbable } from './improbable-v1alpha1/dialect.ts';
import { improbableRestores } from './improbable-v1alpha1/restore.ts';
import {
  accountsRestrictedTo,
  type Restrictions,
  repositoryOf,
  restrictedTo,
  sharedRestrictions,
  type UidRange,
} from './restrictions.ts';

const metadata = { name: 'db', namespace: 'default', uid: 'u' };

/** One cluster in the words of both APIs. */
const readers = {
  'spec.pod': (pod: object, more: object) => ({ metadata, spec: { size: 1, pod, ...more } }),
  'spec.podTemplate': (podTemplate: object, more: object) => ({
    metadata,
    spec: { replicas: 1, podTemplate, ...more },
  }),
} as const;
const dialects = { 'spec.pod': coreos, 'spec.podTemplate': improbable } as const;

describe.each(['spec.pod', 'spec.podTemplate'] as const)('with the restrictions of a shared operator, %s', (field) => {
  const problems = (pod: object, more: object = {}, restrictions: Restrictions = sharedRestrictions) => {
    const read = restrictedTo(restrictions, dialects[field]).read(readers[field](pod, more));
    return read.ok ? [] : read.problems.map(({ path, says }) => `${path}: ${says}`);
  };
  const env = (valueFrom: object) => ({ etcdEnv: [{ name: 'X', valueFrom }] });

  it.each<[string, object, [path: string, flag: string, more?: object]]>([
    ['a Secret', env({ secretKeyRef: { name: 's', key: 'k' } }), ['.etcdEnv[X].valueFrom', '--allowed-value-from']],
    ['a file', env({ fileKeyRef: {} }), ['.etcdEnv[X].valueFrom', '--allowed-value-from']],
    ['an image', {}, ['spec.repository', '--allowed-repositories', { repository: 'evil.example/shell' }]],
    ['an account', { serviceAccountName: 'ci' }, ['.serviceAccountName', '--allowed-service-accounts']],
    ['root', { securityContext: { runAsUser: 0 } }, ['.securityContext.runAsUser', '--allowed-uids']],
    ['the user of an image', { securityContext: { fsGroup: 1 } }, ['.securityContext.runAsUser', '--allowed-uids']],
  ])('may not name %s: the refusal names the field and the flag', (_, pod, [path, flag, more = {}]) => {
    const said = problems(pod, more);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(`${path.startsWith('.') ? field : ''}${path}: `);
    expect(said[0]).toContain(`is not allowed by the operator, whose flag ${flag} is `);
    expect(problems(pod, more, {})).toEqual([]);
  });

  it.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['fields of the pod', env({ fieldRef: { fieldPath: 'metadata.name' } }), {}],
    ['a ConfigMap', env({ configMapKeyRef: { name: 'c', key: 'k' } }), {}],
    ['the repository of the original', {}, { repository: 'quay.io/coreos/etcd' }],
    ['the account default', { serviceAccountName: 'default' }, {}],
    ['another user', { securityContext: { runAsUser: 9000, runAsNonRoot: true, fsGroup: 9000 } }, {}],
    ['any user but root', { securityContext: { runAsNonRoot: true } }, {}],
  ])('may name %s', (_, pod, more) => {
    expect(problems(pod, more)).toEqual([]);
  });

  it.each<[string, 'accepted' | 'refused', readonly UidRange[]]>([
    ['one user', 'refused', [{ from: 65_532, to: 65_532 }]],
    ['users from 1000 on', 'refused', [{ from: 1000, to: 2_147_483_647 }]],
    [
      'all users but one',
      'refused',
      [
        { from: 1, to: 999 },
        { from: 1001, to: 2_147_483_647 },
      ],
    ],
    ['all users but root', 'accepted', [{ from: 1, to: 2_147_483_647 }]],
    [
      'all users but root in two ranges',
      'accepted',
      [
        { from: 1000, to: 2_147_483_647 },
        { from: 1, to: 999 },
      ],
    ],
    ['all users', 'accepted', [{ from: 0, to: 4_294_967_295 }]],
  ])('with %s allowed, runAsNonRoot without runAsUser is %s', (_, result, uids) => {
    const said = problems({ securityContext: { runAsNonRoot: true } }, {}, { uids });
    const refusal = `${field}.securityContext.runAsUser: the user of the image, as runAsUser is not set`;
    expect(said).toEqual(result === 'accepted' ? [] : [expect.stringContaining(refusal)]);
  });

  it('may name what the flags say', () => {
    const wider = { ...sharedRestrictions, repositories: ['mirror.example/team/'], uids: [{ from: 0, to: 0 }] };
    const context = { securityContext: { runAsUser: 0 } };
    expect(problems(context, { repository: 'mirror.example/team/etcd' }, wider)).toEqual([]);
    expect(problems(context, { repository: 'mirror.example/teams/etcd' }, wider)).toHaveLength(1);
  });
});

it('an image of another repository cannot come in as the image of check-dns', () => {
  const read = restrictedTo(sharedRestrictions, coreos).read(readers['spec.pod']({ busyboxImage: 'evil/shell:1' }, {}));
  expect(read).toMatchObject({ ok: false, problems: [{ path: 'spec.pod.busyboxImage' }] });
  const usual = readers['spec.pod']({ busyboxImage: 'busybox:1.28.0-glibc', DNSTimeoutInSecond: 5 }, {});
  expect(restrictedTo(sharedRestrictions, coreos).read(usual).ok).toBe(true);
});

it.each([
  ['localhost:5000/etcd:v3.5.21', 'localhost:5000/etcd'],
  ['localhost/etcd', 'localhost/etcd'],
  ['quay.io/coreos/etcd@sha256:abc', 'quay.io/coreos/etcd'],
  ['Registry/etcd:v3.5.21', 'Registry/etcd'],
  ['busybox:1', 'docker.io/library/busybox'],
  ['docker.io/busybox', 'docker.io/library/busybox'],
  ['docker.io/library/busybox:1', 'docker.io/library/busybox'],
  ['team/etcd', 'docker.io/team/etcd'],
])('the image %s is compared as %s: with its registry, without tag and digest', (image, repository) => {
  expect(repositoryOf(image)).toBe(repository);
});

it.each<[allowed: string, images: { readonly in: readonly string[]; readonly out: readonly string[] }]>([
  [
    'docker.io/',
    { in: ['busybox', 'a/b', 'docker.io/a/b/c'], out: ['evil.example/shell', 'Registry/a', 'localhost/a'] },
  ],
  ['docker.io/library/', { in: ['busybox', 'docker.io/busybox'], out: ['library.example/a', 'a/b', 'docker.io/a/b'] }],
  ['a/', { in: ['a/b', 'docker.io/a/b'], out: ['ab/c', 'a.example/b', 'a'] }],
  ['a/b', { in: ['a/b', 'docker.io/a/b'], out: ['a/bc', 'a/b/c', 'a.example/a/b'] }],
  [
    'localhost:5000/x',
    { in: ['localhost:5000/x'], out: ['localhost:5000/xy', 'localhost:5000/x/y', 'localhost/x', 'x'] },
  ],
  ['localhost:5000/x/', { in: ['localhost:5000/x/y'], out: ['localhost:5000/xy', 'localhost:5000/x', 'x/y'] }],
  ['quay.io/core', { in: ['quay.io/core'], out: ['quay.io/coreos/etcd', 'quay.io/core/etcd'] }],
  ['/', { in: [], out: ['busybox', 'quay.io/coreos/etcd'] }],
])('the repository %s allows its own images and no others', (allowed, images) => {
  const { read } = restrictedTo({ repositories: [allowed] }, improbable);
  const isAllowed = (repository: string) => read(readers['spec.podTemplate']({}, { repository })).ok;
  expect(images.in.filter((each) => !isAllowed(each))).toEqual([]);
  expect(images.out.filter(isAllowed)).toEqual([]);
});

it('agents of backups and restores run under allowed accounts only', () => {
  const store = { credentialsSecret: 's', objectURLTemplate: 's3://b/k' };
  const backup = { metadata, spec: { serviceAccountName: 'ci', source: { clusterName: 'db' }, destination: store } };
  const restore = {
    metadata,
    spec: {
      serviceAccountName: 'ci',
      source: { objectURL: 's3://b/k' },
      clusterTemplate: { clusterName: 'db', spec: { replicas: 1 } },
    },
  };
  for (const [dialect, raw] of [
    [improbableBackups, backup],
    [improbableRestores, restore],
  ] as const) {
    expect(dialect.read(raw)).toMatchObject({ ok: true });
    expect(accountsRestrictedTo(sharedRestrictions, dialect).read(raw)).toMatchObject({
      ok: false,
      problems: [{ path: 'spec.serviceAccountName', says: expect.stringContaining('--allowed-service-accounts') }],
    });
  }
  expect(accountsRestrictedTo(undefined, coreosBackups)).toBe(coreosBackups);
});
