import { describe, expect, it } from 'vitest';
import type { Stored } from '../../kube/object.ts';
import { namespaced } from '../../kube/resource.ts';
import { Failure, type FailureKind } from '../../std/failure.ts';
import type { ClusterObject } from './context.ts';
import { publish, withStatus } from './status-writer.ts';

const resource = namespaced<ClusterObject>({ group: 'g', version: 'v1', plural: 'things', kind: 'Thing' });
const dialect = { group: 'g' };

const thing = (status?: object): Stored<ClusterObject> =>
  ({
    metadata: { namespace: 'n', name: 'a', uid: 'u', resourceVersion: '1' },
    spec: {},
    ...(status === undefined ? {} : { status }),
  }) as unknown as Stored<ClusterObject>;

/** An API server that may refuse to write the status subresource. */
class Server {
  object: Stored<ClusterObject>;
  writes = 0;
  readonly events: string[] = [];
  readonly kind: typeof resource;
  refusal: FailureKind | undefined;

  constructor(object: Stored<ClusterObject>, refusal?: FailureKind, kind = resource) {
    this.object = object;
    this.kind = kind;
    this.refusal = refusal;
  }

  readonly writer = () => ({
    create: () => Promise.reject(new Error('unexpected create')),
    remove: () => Promise.reject(new Error('unexpected remove')),
    patch: async (_: unknown, __: unknown, patch: object) => this.#patch(patch as Written),
  });

  /** `seen`: the cached object of the operator. */
  async publish(status: object, seen = this.object): Promise<void> {
    const recordEvent = (_: unknown, { reason }: { reason: string }) => void this.events.push(reason);
    await publish(withStatus(seen, { dialect }), status, {
      writer: this.writer,
      dialect,
      resource: this.kind,
      recordEvent,
    });
  }

  get status(): unknown {
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

/** A merge patch, as the API server applies it. */
function merged(before: object, changes: object = {}): object {
  const patched = Object.entries(changes).map(([field, value]: [string, unknown]) => {
    const old: unknown = Reflect.get(before, field);
    const isMap = [old, value].every((each) => typeof each === 'object' && each !== null && !Array.isArray(each));
    return [field, isMap ? merged(old as object, value as object) : value] as const;
  });
  const fields = Object.entries({ ...before, ...Object.fromEntries(patched) });
  return Object.fromEntries(fields.filter(([, value]) => value !== null && value !== undefined));
}

describe('the published status', () => {
  it('is written with shorter texts if the API server would refuse them', async () => {
    const server = new Server(thing());
    await server.publish({ conditions: [{ message: 'x'.repeat(40_000) }] });
    expect(server.status).toEqual({ conditions: [{ message: `${'x'.repeat(32_767)}…` }] });
  });

  it('is written once if the API server replaces half a character', async () => {
    const server = new Server(thing());
    for (const _ of [1, 2]) await server.publish({ reason: '\ud83d' });
    expect([server.status, server.writes]).toEqual([{ reason: '\ufffd' }, 1]);
  });

  it('is written once if a field of it is undefined, or gone from an object in it', async () => {
    const server = new Server(thing({ seedMember: '/a', backup: { url: 'u', sizeBytes: -1 } }));
    for (const _ of [1, 2]) await server.publish({ seedMember: undefined, backup: { url: 'u', sizeBytes: undefined } });
    expect([server.object.status, server.writes]).toEqual([{ backup: { url: 'u' } }, 1]);
  });

  it('is written once, without fields that are gone', async () => {
    const server = new Server(thing({ old: 1, kept: 1 }));
    await server.publish({ kept: 2 });
    await server.publish({ kept: 2 });
    expect(server.object.status).toEqual({ kept: 2 });
    expect(server.writes).toBe(1);
  });

  it.each([undefined, 'forbidden', 'not-found'] as const)(
    'does not replace a status that another operator has written since the read (status subresource: %s)',
    async (refusal) => {
      const server = new Server(thing(), refusal);
      const before = server.object;
      await server.publish({ clusterId: 'of the other' });
      await expect(server.publish({ clusterId: 'ours' }, before)).rejects.toMatchObject({ kind: 'conflict' });
      expect(server.status).toEqual({ clusterId: 'of the other' });
    },
  );

  it('is kept in an annotation if the status may not be written, also beside a status of another operator', async () => {
    const server = new Server(thing({ phase: 'Running' }), 'forbidden');
    await server.publish({ clusterId: 'c' });
    await server.publish({ clusterId: 'c' });
    expect(server.status).toEqual({ clusterId: 'c' });
    expect(server.writes).toBe(1);
  });

  it('moves from the annotation to the status field once that may be written', async () => {
    const server = new Server(thing({ phase: 'Running' }), 'forbidden');
    await server.publish({ clusterId: 'c', size: 3 });
    server.refusal = undefined;
    await server.publish({ clusterId: 'c', size: 4 });
    expect(server.object.status).toEqual({ clusterId: 'c', size: 4 });
    expect(server.annotations).toEqual({});
  });

  it('is read from the status field once that has been written again', async () => {
    const server = new Server(thing(), 'forbidden');
    await server.publish({ clusterId: 'old' });
    server.object = { ...server.object, status: { clusterId: 'new' } };
    expect(server.status).toEqual({ clusterId: 'new' });
  });

  it('is not read from an annotation that was copied from another object', async () => {
    const server = new Server(thing(), 'forbidden');
    await server.publish({ clusterId: 'c' });
    server.object = { ...server.object, metadata: { ...server.object.metadata, uid: 'another' } };
    expect(server.status).toBeUndefined();
  });

  it('is an ordinary field with the CRD of the original operator', async () => {
    const server = new Server(thing({ phase: 'Running' }), 'not-found');
    await server.publish({ clusterId: 'c' });
    expect(server.object.status).toEqual({ clusterId: 'c' });
    expect(server.annotations).toEqual({});
  });

  it('causes one Event for an outdated CRD', async () => {
    const kind = { ...resource };
    const server = new Server(thing(), 'not-found', kind);
    for (const clusterId of ['c', 'd']) await server.publish({ clusterId });
    expect(server.events).toEqual(['OldDefinition']);
  });
});
