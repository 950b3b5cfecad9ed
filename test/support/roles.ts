import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/kube/object.ts';
import { nameOfRight } from '../../src/operator/rbac.ts';

interface Rules {
  readonly kind: string;
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** The objects in a YAML file of this repository. */
export const documentsIn = (file: string): readonly KubeObject[] =>
  parseAllDocuments(readFileSync(join(import.meta.dirname, '../..', file), 'utf8')).map(
    (document) => document.toJS() as KubeObject,
  );

/** The permissions of the Role or ClusterRole in a file, one string each, such as `list pods`. */
export function permissionsIn(file: string, kind: 'Role' | 'ClusterRole'): readonly string[] {
  return (documentsIn(file) as readonly (Rules & KubeObject)[])
    .filter((object) => object.kind === kind)
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => nameOfRight({ group, resource, verb }))),
      ),
    )
    .toSorted();
}
