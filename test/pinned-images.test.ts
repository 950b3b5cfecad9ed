import { describe, expect, it } from 'vitest';
import { setDefaults } from '../lab/apiserver/schema/defaults.ts';
import { ruleErrors } from '../lab/apiserver/schema/rules.ts';
import type { Schema } from '../lab/apiserver/schema/schema.ts';
import { schemaErrors } from '../lab/apiserver/schema/validate.ts';
import type { ClusterDialect } from '../src/apis/common/dialect.ts';
import { withRepository } from '../src/apis/common/image.ts';
import { etcdClusterCrd as coreosCrd } from '../src/apis/coreos-v1beta2/crd.ts';
import { coreos } from '../src/apis/coreos-v1beta2/dialect.ts';
import { etcdClusterCrd as improbableCrd } from '../src/apis/improbable-v1alpha1/crd.ts';
import { improbable } from '../src/apis/improbable-v1alpha1/dialect.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const repository = 'quay.io/coreos/etcd';

interface Api {
  readonly dialect: ClusterDialect;
  readonly crd: unknown;
  readonly size: object;
}

const apis: readonly (readonly [string, Api])[] = [
  ['coreos', { dialect: coreos, crd: coreosCrd(), size: { size: 3 } }],
  ['improbable', { dialect: improbable, crd: improbableCrd(), size: { replicas: 3 } }],
];

const read = ({ dialect, size }: Api, spec: object) =>
  dialect.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { ...size, ...spec } });

const intentOf = (api: Api, spec: object) => {
  const parsed = read(api, spec);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value.blueprint.intent;
};

/** The errors of the API server for a spec, from the schema and validation rules of the CRD. */
function refusals({ crd, size }: Api, spec: object): readonly string[] {
  const { versions } = (crd as { spec: { versions: readonly { schema: { openAPIV3Schema: Schema } }[] } }).spec;
  const schema = versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
  const value = { ...size, ...spec };
  setDefaults(value, schema);
  const errors = [schemaErrors, ruleErrors].flatMap((judge) => judge(value, schema, { path: 'spec' }));
  return errors.map(({ path, detail }) => `${path}: ${detail}`);
}

describe.each(apis)('a digest in an EtcdCluster of the %s API', (_, api) => {
  it.each([
    { version: `3.5.35@${digest}` },
    { version: `v3.5.35@${digest}`, repository },
    { version: '3.5.35', repository: `${repository}@${digest}` },
    { version: 'v3.5.35', repository: `${repository}@${digest}` },
  ])('pins the image of its version and is not part of the version: %j', (spec) => {
    expect(refusals(api, spec)).toEqual([]);
    const { version, imageOf, isPinned } = intentOf(api, spec);
    expect({ version, isPinned }).toEqual({ version: '3.5.35', isPinned: true });
    expect(imageOf('3.5.35')).toBe(`${repository}:v3.5.35@${digest}`);
  });

  it('is never used for another version', () => {
    for (const spec of [{ version: `3.6.16@${digest}` }, { version: '3.6.16', repository: `${repository}@${digest}` }])
      expect(intentOf(api, spec).imageOf('3.5.35')).toBe(`${repository}:v3.5.35`);
  });

  it('is kept if --etcd-repository names a mirror', () => {
    const mirrored = { ...api, dialect: withRepository(api.dialect, 'mirror.example/etcd') };
    const { imageOf } = intentOf(mirrored, { version: `3.5.35@${digest}` });
    expect([imageOf('3.5.35'), imageOf('3.5.34')]).toEqual([
      `mirror.example/etcd:v3.5.35@${digest}`,
      'mirror.example/etcd:v3.5.34',
    ]);
  });

  it.each<[string, object, string]>([
    ['without a version', { version: `@${digest}` }, 'spec.version'],
    ['with two numbers', { version: `3.5@${digest}` }, 'spec.version'],
    ['too short', { version: '3.5.35@sha256:abc' }, 'spec.version'],
    ['too long', { version: `3.5.35@${digest}0` }, 'spec.version'],
    ['in capitals', { version: `3.5.35@${digest.toUpperCase()}` }, 'spec.version'],
    ['twice in one field', { version: `3.5.35@${digest}@${digest}` }, 'spec.version'],
    ['of another algorithm', { repository: `${repository}@sha512:${'0'.repeat(128)}` }, 'spec.repository'],
    ['without a repository name', { repository: `@${digest}` }, 'spec.repository'],
    ['behind a tag', { repository: `${repository}:v3.5.35@${digest}` }, 'spec.repository'],
    ['too short in the repository', { repository: `${repository}@sha256:abc` }, 'spec.repository'],
    ['in version and repository', { version: `3.5.35@${digest}`, repository: `${repository}@${digest}` }, 'spec'],
    ['behind a name that is too long', { repository: `${'a'.repeat(256)}@${digest}` }, 'spec.repository'],
  ])('%s is refused by API server and reader, which name the field', (_title, spec, field) => {
    const parsed = read(api, spec);
    expect(parsed.ok ? [] : parsed.problems.map(({ path }) => path)).toEqual([field]);
    expect(refusals(api, spec).map((line) => line.split(':')[0])).toContain(field);
  });
});
