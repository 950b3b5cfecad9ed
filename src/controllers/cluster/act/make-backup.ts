import type { Step } from '../../../core/cluster/plan/step.ts';
import { keyOf } from '../../../kube/object.ts';
import type { Resource } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import type { ClusterObject } from '../../shared/context.ts';
import { backupAt, missingTemplate, resourceOf } from '../observe/backup/pre-upgrade-backup.ts';
import type { StepContext } from './step-context.ts';

/** Creates the backup, in place of a failed or expired one. It is deleted with its cluster; its stored object stays. */
export async function makeBackup(
  { name, version }: Extract<Step, { kind: 'make-backup' }>,
  context: StepContext,
): Promise<void> {
  const { blueprint, controller, writer, signal, observed } = context;
  const { dialect } = controller;
  const { namespace, name: cluster } = blueprint.intent;
  const resource = resourceOf(dialect);
  const { backupBeforeUpgrade: like = '' } = observed;
  const template = resource && (await backupAt({ namespace, name: like }, resource, controller));
  // it existed in the observation
  if (resource === undefined || template === undefined) throw new Failure('conflict', missingTemplate(like));
  await removeFormer(name, resource, context);
  const { group, version: apiVersion, kind } = resource;
  const scope = Object.entries(template.metadata.annotations ?? {}).filter(([key]) => key === dialect.scopeAnnotation);
  const backup = {
    apiVersion: `${group}/${apiVersion}`,
    kind,
    metadata: { name, namespace, annotations: Object.fromEntries(scope), ownerReferences: [blueprint.owner] },
    spec: dialect.preUpgradeBackups?.specFrom(template.spec, { namespace, cluster, version }),
  };
  await writer.create(resource, backup, { signal });
  controller.watched?.preUpgradeBackups.made(keyOf(blueprint.intent));
}

/** Deletes the previous backup, if it was made for this cluster. */
async function removeFormer(
  name: string,
  resource: Resource<ClusterObject>,
  { blueprint, controller, writer, signal }: StepContext,
): Promise<void> {
  const { namespace, uid: owner } = blueprint.intent;
  const found = await backupAt({ namespace, name }, resource, controller);
  if (found === undefined) return;
  const { uid, resourceVersion, ownerReferences = [] } = found.metadata;
  if (!ownerReferences.some((each) => each.uid === owner))
    throw new Failure('conflict', `${resource.kind} ${name} does not belong to this cluster: delete or rename it`);
  const preconditions = { uid, resourceVersion };
  await unless('not-found', writer.remove(resource, { namespace, name }, { preconditions, signal }), undefined);
}
