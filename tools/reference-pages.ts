import { etcdClusterSchema } from '../src/dialects/coreos-v1beta2/crd.ts';
import {
  etcdPeerSchema,
  etcdClusterSchema as improbableClusterSchema,
} from '../src/dialects/improbable-v1alpha1/crd.ts';
import { fieldTable, refusalTable } from './reference-page.ts';

export const coreosEtcdCluster = (): string => `# EtcdCluster of etcd.database.coreos.com/v1beta2

<!-- Generated from src/dialects/coreos-v1beta2 by tools/generate-crds.ts. -->

Only \`spec.size\` must be set. Short names: \`etcd\`, \`etcdclus\`. \`kubectl scale\` sets \`spec.size\`.
The definition needs Kubernetes 1.30 or newer.

- **Names** have up to 52 small letters, digits and dashes, and begin with a letter: the services \`<name>\` and
  \`<name>-client\` and the members \`<name>-xxxxxxxxxx\` are named after them. (Kubernetes before 1.36 wants a letter first.)
- **Versions** are released ones, three numbers: no ranges, no \`latest\`, no \`-rc.0\`, no suffix. Whether etcd can get
  from the version it runs to the one you write is said by a condition, not here.
- **Volumes** can grow. Where their class lets them, they grow under members that run, and the condition \`Progressing\` names one that
  has not yet; where it does not, every member is replaced by one on a larger volume, one after the other. What is deleted with a
  cluster or a member, and when, is in [volumes](../guide/volumes.md).
- **\`null\`** means that the field is left out.
- **Fields that are not listed** are refused by \`kubectl\`, and dropped where a client does not ask for strict checking.
  So a cluster cannot reach into another namespace, run on the host's network or bring containers of its own.

## Spec

${fieldTable(etcdClusterSchema(), 'spec')}

## Status

${fieldTable(etcdClusterSchema(), 'status')}

## What is refused, and what it says

An object that got past the API server (stored before this definition was installed) is held to the same rules by the
operator, and to one more: no cluster is named \`kubernetes\` in the namespace \`default\`, where that is the Service of the API.

${refusalTable(etcdClusterSchema())}
`;

export const improbableEtcdCluster = (): string => `# EtcdCluster of etcd.improbable.io/v1alpha1

<!-- Generated from src/dialects/improbable-v1alpha1 by tools/generate-crds.ts. -->

Only \`spec.replicas\` must be set. Short name: \`ietcd\`; where both APIs are installed, \`etcdclusters.etcd.improbable.io\` is the
whole one. \`kubectl scale\` sets \`spec.replicas\`. The definition needs Kubernetes 1.30 or newer.

- **Names** have up to 56 small letters, digits and dashes, and begin with a letter: the services \`<name>\` and
  \`<name>-client\` and the members \`<name>-0\`, \`<name>-1\` … are named after them.
- **Versions** are released ones of etcd 3, three numbers: no ranges, no \`latest\`, no \`-rc.0\`. Whether etcd can get from the
  version it runs to the one you write is said by a condition, not here.
- **Volumes** can grow, and change in nothing else. Where their class lets them, they grow under members that run, and the condition \`Progressing\` names one that
  has not yet; where it does not, every member is replaced by one on a larger volume, one after the other. They stay when the
  cluster is deleted, unless \`volumeClaimPolicy\` is \`Delete\`: see [volumes](../guide/volumes.md).
- **\`null\`** means that the field is left out.
- **Fields that are not listed** are refused by \`kubectl\`, and dropped where a client does not ask for strict checking.

## Spec

${fieldTable(improbableClusterSchema(), 'spec')}

## Status

${fieldTable(improbableClusterSchema(), 'status')}

## What is refused, and what it says

An object that got past the API server (stored under the original's definition) is held to the same rules by the operator,
except those about changes, and to one more: no cluster is named \`kubernetes\` in the namespace \`default\`.

${refusalTable(improbableClusterSchema())}
`;

export const improbableEtcdPeer = (): string => `# EtcdPeer of etcd.improbable.io/v1alpha1

<!-- Generated from src/dialects/improbable-v1alpha1 by tools/generate-crds.ts. -->

One member of an EtcdCluster, made by the operator. Short name: \`ipeer\`. \`clusterName\` and \`bootstrap\` cannot be changed, and
\`storage\` can only grow; what else is changed in a peer should be changed in its EtcdCluster.

## Spec

${fieldTable(etcdPeerSchema(), 'spec')}

## Status

${fieldTable(etcdPeerSchema(), 'status')}

## What is refused, and what it says

${refusalTable(etcdPeerSchema())}
`;
