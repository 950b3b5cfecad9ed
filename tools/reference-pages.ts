import { etcdClusterSchema } from '../src/apis/coreos-v1beta2/crd.ts';
import { etcdPeerSchema, etcdClusterSchema as improbableClusterSchema } from '../src/apis/improbable-v1alpha1/crd.ts';
import { fieldTable, refusalTable } from './reference-page.ts';

export const coreosEtcdCluster = (): string => `# EtcdCluster of etcd.database.coreos.com/v1beta2

<!-- Generated from src/apis/coreos-v1beta2 by tools/generate-crds.ts. -->

Only \`spec.size\` is required. Short names: \`etcd\`, \`etcdclus\`. \`kubectl scale\` sets \`spec.size\`.
The CRD needs Kubernetes 1.30 or newer.

- **Names** have up to 52 lower-case letters, digits and dashes, and start with a letter. They prefix the Services \`<name>\` and
  \`<name>-client\` and the members \`<name>-xxxxxxxxxx\`. (Kubernetes before 1.36 requires a letter first in Service names.)
- **Versions** are released versions of three numbers: no ranges, no \`latest\`, no \`-rc.0\`, no suffix. If the upgrade path from
  the running version is not supported, a condition reports it.
- **Volumes** can grow. If their StorageClass allows expansion, PVCs grow under running members; the condition \`Progressing\`
  names a PVC that has not grown yet. Otherwise each member in turn is replaced by a member on a larger PVC. See
  [volumes](../guide/volumes.md) for what is deleted with a cluster or a member.
- **\`null\`** means that the field is not set.
- **Unknown fields** are refused by \`kubectl\`, and dropped for clients without strict validation. A cluster therefore cannot
  use another namespace, the host's network or additional containers.

## Spec

${fieldTable(etcdClusterSchema(), 'spec')}

## Status

${fieldTable(etcdClusterSchema(), 'status')}

## Validation errors

The operator applies the same rules to objects that were stored before this CRD was installed. One more rule: no cluster may be
named \`kubernetes\` in the namespace \`default\`, because that is the Service of the API server.

${refusalTable(etcdClusterSchema())}
`;

export const improbableEtcdCluster = (): string => `# EtcdCluster of etcd.improbable.io/v1alpha1

<!-- Generated from src/apis/improbable-v1alpha1 by tools/generate-crds.ts. -->

Only \`spec.replicas\` is required. Short name: \`ietcd\`. If both APIs are installed, the full name is
\`etcdclusters.etcd.improbable.io\`. \`kubectl scale\` sets \`spec.replicas\`. The CRD needs Kubernetes 1.30 or newer.

- **Names** have up to 56 lower-case letters, digits and dashes, and start with a letter. They prefix the Services \`<name>\` and
  \`<name>-client\` and the members \`<name>-0\`, \`<name>-1\` ….
- **Versions** are released versions of etcd 3, three numbers: no ranges, no \`latest\`, no \`-rc.0\`. If the upgrade path from the
  running version is not supported, a condition reports it.
- **Volumes** can grow; no other change is allowed. If their StorageClass allows expansion, PVCs grow under running members; the
  condition \`Progressing\` names a PVC that has not grown yet. Otherwise each member in turn is replaced by a member on a larger
  PVC. PVCs stay when the cluster is deleted, unless \`volumeClaimPolicy\` is \`Delete\`: see [volumes](../guide/volumes.md).
- **\`null\`** means that the field is not set.
- **Unknown fields** are refused by \`kubectl\`, and dropped for clients without strict validation.

## Spec

${fieldTable(improbableClusterSchema(), 'spec')}

## Status

${fieldTable(improbableClusterSchema(), 'status')}

## Validation errors

The operator applies the same rules, except those about changes, to objects that were stored under the original's CRD. One more
rule: no cluster may be named \`kubernetes\` in the namespace \`default\`.

${refusalTable(improbableClusterSchema())}
`;

export const improbableEtcdPeer = (): string => `# EtcdPeer of etcd.improbable.io/v1alpha1

<!-- Generated from src/apis/improbable-v1alpha1 by tools/generate-crds.ts. -->

One member of an EtcdCluster, created by the operator. Short name: \`ipeer\`. \`clusterName\` and \`bootstrap\` are immutable, and
\`storage\` can only grow. Make all other changes in the EtcdCluster.

## Spec

${fieldTable(etcdPeerSchema(), 'spec')}

## Status

${fieldTable(etcdPeerSchema(), 'status')}

## Validation errors

${refusalTable(etcdPeerSchema())}
`;
