import { describe, expect, it } from 'vitest';
import type { Stored } from '../../kube/object.ts';
import { namespaced } from '../../kube/resource.ts';
import { Failure, type FailureKind } from '../../std/failure.ts';
import { publish, withStatus } from './publish.ts';
import type { ClusterObject } from './sources.ts';

const resource = namespaced<ClusterObject>({ group: 'g', version: 'v1', plural: 'things', kind: 'Thing' });
const dialect = { group: 'g' };

const thing = (status?: object): Stored<ClusterObject> =>
  ({
    metadata: { namespace: 'n', name: 'a', uid: 'u', resourceVersion: '1' },
    spec: {},
    ...(status === undefined ? {} : { status }),
  }) as unknown as Stored<ClusterObject>;

/** What an API server would have made of it that refuses to write the status in one way or another. */
class Server {
  object: Stored<ClusterObject>;
  writes = 0;
  readonly told: string[] = [];
  readonly kind: typeof resource;
  refusal: FailureKind | undefined;

  constructor(object: Stored<ClusterObject>, refusal?: FailureKind, kind = resource) {
    this.object = object;
    this.kind = kind;
    this.refusal = refusal;
  }

  readonly writer = () => ({
    create: () => Promise.reject(new Error('nobody creates')),
    remove: () => Promise.reject(new Error('nobody removes')),
    patch: async (_: unknown, __: unknown, patch: object) => this.#patch(patch as Written),
  });

  /** `seen`: what the operator has in its copy. */
  async publish(status: object, seen = this.object): Promise<void> {
    const tell = (_: unknown, { reason }: { reason: string }) => void this.told.push(reason);
    await publish(withStatus(seen, { dialect }), status, {
      writer: this.writer,
      dialect,
      resource: this.kind,
      tell,
    });
  }

  get says(): unknown {
    return withStatus(this.object, { dialect }).status;
  }

  get annotations(): Readonly<Record<string, string>> {
    return this.object.metadata.annotations ?? {};
  }

  #patch({ body, subresource }: Written): void {
    if (subresource === 'status' && this.refusal !== undefined) throw new Failure(this.refusal, 'no');
    const { status, metadata = {} } = body;
    const { resourceVersion } = this.object.metadata;
    if ((metadata.resourceVersion ?? resourceVersion) !== resourceVersion) throw new Failure('conflict', 'it is newer');
    this.writes++;
    const annotations = merged(this.annotations, metadata.annotations) as never;
    this.object = {
      ...this.object,
      metadata: { ...this.object.metadata, annotations, resourceVersion: `${resourceVersion}1` },
      ...(status === undefined ? {} : { status: merged(this.object.status ?? {}, status) }),
    };
  }
}

interface Written {
  readonly subresource?: string;
  readonly body: {
    readonly status?: object;
    readonly metadata?: { readonly annotations?: object; readonly resourceVersion?: string };
  };
}

const merged = (before: object, changes: object = {}): object =>
  Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null));

describe('the status', () => {
  it('is written once, and fields that are over go', async () => {
    const server = new Server(thing({ old: 1, kept: 1 }));
    await server.publish({ kept: 2 });
    await server.publish({ kept: 2 });
    expect(server.object.status).toEqual({ kept: 2 });
    expect(server.writes).toBe(1);
  });

  it.each([undefined, 'forbidden', 'not-found'] as const)(
    'does not take the place of what another operator has written since it was read (status subresource: %s)',
    async (refusal) => {
      const server = new Server(thing(), refusal);
      const before = server.object;
      await server.publish({ clusterId: 'of the other' });
      await expect(server.publish({ clusterId: 'ours' }, before)).rejects.toMatchObject({ kind: 'conflict' });
      expect(server.says).toEqual({ clusterId: 'of the other' });
    },
  );

  it('is remembered where it may not be written, also in place of what another operator has left there', async () => {
    const server = new Server(thing({ phase: 'Running' }), 'forbidden');
    await server.publish({ clusterId: 'c' });
    await server.publish({ clusterId: 'c' });
    expect(server.says).toEqual({ clusterId: 'c' });
    expect(server.writes).toBe(1);
  });

  it('moves into its field when it may be written there, and nothing else stays', async () => {
    const server = new Server(thing({ phase: 'Running' }), 'forbidden');
    await server.publish({ clusterId: 'c', size: 3 });
    server.refusal = undefined;
    await server.publish({ clusterId: 'c', size: 4 });
    expect(server.object.status).toEqual({ clusterId: 'c', size: 4 });
    expect(server.annotations).toEqual({});
  });

  it('is the one in the field, once that was written again', async () => {
    const server = new Server(thing(), 'forbidden');
    await server.publish({ clusterId: 'old' });
    server.object = { ...server.object, status: { clusterId: 'new' } };
    expect(server.says).toEqual({ clusterId: 'new' });
  });

  it('is not that of another whose annotations were copied', async () => {
    const server = new Server(thing(), 'forbidden');
    await server.publish({ clusterId: 'c' });
    server.object = { ...server.object, metadata: { ...server.object.metadata, uid: 'another' } };
    expect(server.says).toBeUndefined();
  });

  it('is a field like others where the definition is as old as the original', async () => {
    const server = new Server(thing({ phase: 'Running' }), 'not-found');
    await server.publish({ clusterId: 'c' });
    expect(server.object.status).toEqual({ clusterId: 'c' });
    expect(server.annotations).toEqual({});
  });

  it('is told once that another definition would be better', async () => {
    const kind = { ...resource };
    const server = new Server(thing(), 'not-found', kind);
    for (const clusterId of ['c', 'd']) await server.publish({ clusterId });
    expect(server.told).toEqual(['OldDefinition']);
  });
});
