import type { StructuralSchema } from '../../src/apis/common/schema/structural-schema.ts';
import * as coreosBackup from '../../src/apis/coreos-v1beta2/backup.ts';
import * as coreosCrd from '../../src/apis/coreos-v1beta2/crd.ts';
import * as coreosRestore from '../../src/apis/coreos-v1beta2/restore.ts';
import * as improbableBackup from '../../src/apis/improbable-v1alpha1/backup/backup.ts';
import * as improbableRestore from '../../src/apis/improbable-v1alpha1/backup/restore.ts';
import * as improbableSchedule from '../../src/apis/improbable-v1alpha1/backup/schedule.ts';
import * as improbableCrd from '../../src/apis/improbable-v1alpha1/crd.ts';
import * as bases from './bases.ts';
import { type LabJson, namespace } from './lab-api.ts';

export type Role = 'cluster' | 'peer' | 'backup' | 'schedule' | 'restore';

/** A kind of one of the two APIs. */
export interface Kind {
  readonly api: 'coreos' | 'improbable';
  readonly role: Role;
  readonly definition: LabJson;
  readonly schema: StructuralSchema;
  readonly specs: readonly LabJson[];
}

type Described = readonly [definition: () => LabJson, schema: () => StructuralSchema, specs: readonly LabJson[]];

const kind = (api: Kind['api'], role: Role, [definition, schema, specs]: Described): Kind => ({
  ...{ api, role, specs },
  definition: definition(),
  schema: schema(),
});

/** Every kind of both APIs. */
export const kinds: readonly Kind[] = [
  kind('coreos', 'cluster', [coreosCrd.etcdClusterCrd, coreosCrd.etcdClusterSchema, bases.coreosClusters]),
  kind('coreos', 'backup', [coreosBackup.etcdBackupCrd, coreosBackup.etcdBackupSchema, bases.coreosBackups]),
  kind('coreos', 'restore', [coreosRestore.etcdRestoreCrd, coreosRestore.etcdRestoreSchema, bases.coreosRestores]),
  kind('improbable', 'cluster', [
    improbableCrd.etcdClusterCrd,
    improbableCrd.etcdClusterSchema,
    bases.improbableClusters,
  ]),
  kind('improbable', 'peer', [improbableCrd.etcdPeerCrd, improbableCrd.etcdPeerSchema, bases.improbablePeers]),
  kind('improbable', 'backup', [
    improbableBackup.etcdBackupCrd,
    improbableBackup.etcdBackupSchema,
    bases.improbableBackups,
  ]),
  kind('improbable', 'schedule', [
    improbableSchedule.etcdBackupScheduleCrd,
    improbableSchedule.etcdBackupScheduleSchema,
    bases.improbableSchedules,
  ]),
  kind('improbable', 'restore', [
    improbableRestore.etcdRestoreCrd,
    improbableRestore.etcdRestoreSchema,
    bases.improbableRestores,
  ]),
];

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly { readonly name: string }[];
  };
}

/** Group, version, plural and kind of a kind. */
export function namesOfKind({ definition }: Kind) {
  const { spec } = definition as unknown as Definition;
  return { group: spec.group, version: spec.versions[0]?.name ?? '', ...spec.names };
}

export const titleOf = (of: Kind): string => `${of.api} ${namesOfKind(of).kind}`;

/** The path of the objects under test. */
export function collectionPath(of: Kind): string {
  const { group, version, plural } = namesOfKind(of);
  return `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
}

/** An object with a spec, as a user would write it. */
export function objectWith(of: Kind, spec: unknown, metadata: LabJson = {}): LabJson {
  const { group, version, kind: name } = namesOfKind(of);
  const annotations = { [`${group}/allow-plaintext`]: 'true' };
  return { apiVersion: `${group}/${version}`, kind: name, metadata: { name: 'db', annotations, ...metadata }, spec };
}
