import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { Failure } from '../std/failure.ts';
import { survey } from './places.ts';
import { settingsFrom } from './settings.ts';

interface Review {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly namespace?: string;
}

/** The survey of an operator in namespace "operators". `grants`: the answer of the API server to access reviews. */
async function found(flags: readonly string[], grants: (review: Review) => boolean) {
  const reviews: Review[] = [];
  const review = async (_: unknown, { resourceAttributes }: { resourceAttributes: Review }) => {
    reviews.push(resourceAttributes);
    return { allowed: grants(resourceAttributes) };
  };
  const settings = settingsFrom(flags, {});
  const missing = new Map<string, readonly string[]>();
  const clock = new VirtualClock();
  const result = await survey({
    ...{ client: { review } as never, settings, home: 'operators', isOutside: false, clock },
    onMissing: (namespace, lines) => missing.set(namespace, lines),
  });
  const lines = () => [...missing.values()].flat();
  const namespacesAskedFor = (resource: string) =>
    new Set(reviews.filter((each) => each.resource === resource).map(({ namespace }) => namespace));
  return { ...result, namespacesAskedFor, lines: lines(), linesNow: lines, clock };
}

const named = ['--dialects=coreos', '--namespaces=team-a,team-b'];

describe('an operator of one namespace', () => {
  it('checks all its rights there', async () => {
    const { places, lines, namespacesAskedFor } = await found(['--dialects=coreos'], () => true);
    expect(places.map(({ namespace }) => namespace)).toEqual(['operators']);
    expect([namespacesAskedFor('pods'), namespacesAskedFor('leases')]).toEqual([
      new Set(['operators']),
      new Set(['operators']),
    ]);
    expect(lines).toEqual([]);
  });
});

describe('an operator of all namespaces', () => {
  it('checks rights on locks in its own namespace, and all others in all namespaces', async () => {
    const { namespacesAskedFor } = await found(['--dialects=coreos', '--cluster-wide'], () => true);
    const places = ['leases', 'endpoints', 'pods', 'events'].map(namespacesAskedFor);
    expect(places).toEqual([
      new Set(['operators']),
      new Set(['operators']),
      new Set([undefined]),
      new Set([undefined]),
    ]);
  });
});

it("an operator with --namespaces='*' reports missing rights in its own namespace and in all namespaces", async () => {
  const { lines } = await found(
    ['--dialects=coreos', '--namespaces=*'],
    ({ resource }) => !['leases', 'events'].includes(resource),
  );
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'may not get leases.coordination.k8s.io, create leases.coordination.k8s.io, update leases.coordination.k8s.io',
    'may not create events, patch events',
  ]);
});

describe('an operator of named namespaces', () => {
  it('checks rights in each of them, never in all namespaces, and for Leases only in its own', async () => {
    const { places, namespacesAskedFor } = await found(named, () => true);
    expect(places.map(({ namespace }) => namespace)).toEqual(['team-a', 'team-b']);
    expect(namespacesAskedFor('leases')).toEqual(new Set(['operators']));
    expect(namespacesAskedFor('secrets')).toEqual(new Set(['team-a', 'team-b']));
    expect(namespacesAskedFor('endpoints')).toEqual(new Set(['operators', 'team-a', 'team-b']));
    expect(namespacesAskedFor('pods')).toEqual(new Set(['operators', 'team-a', 'team-b'])); // its own image
  });

  it('names the namespace of a missing right, and works without that right only there', async () => {
    const { places, lines } = await found(
      named,
      ({ namespace, group, resource }) => !(namespace === 'team-b' && (group === 'policy' || resource === 'secrets')),
    );
    expect(lines.map((line) => line.split(': may not ')[0])).toEqual(lines.map(() => 'in namespace team-b'));
    expect(lines.join()).toContain('poddisruptionbudgets.policy: draining nodes may break quorum');
    expect(places.map(({ lacks }) => [...lacks])).toEqual([[], ['poddisruptionbudgets', 'secrets', 'delete secrets']]);
  });

  it('serves in each namespace the APIs with clusters that it may list there', async () => {
    const { places, dialects } = await found(['--namespaces=team-a,team-b'], ({ namespace, group }) =>
      namespace === 'team-a' ? group !== 'etcd.improbable.io' : group !== 'etcd.database.coreos.com',
    );
    expect(places.map((place) => place.dialects.map(({ name }) => name))).toEqual([['coreos'], ['improbable']]);
    expect(dialects.map(({ name }) => name)).toEqual(['coreos', 'improbable']);
  });

  it('needs rights on pods and Secrets in its own namespace only for agents with its credentials', async () => {
    const atHome = ({ namespace, resource }: Review) =>
      namespace !== 'operators' || !['pods', 'secrets'].includes(resource);
    const without = await found([...named, '--agent-image=x'], atHome);
    expect(without.lines).toEqual([
      'in namespace operators: may not get pods: the agent image is unknown without --agent-image',
    ]);
    const withStore = await found([...named, '--store-secret=s', '--store-urls=s3://b/{{ .Namespace }}/'], atHome);
    expect(withStore.lines.at(-1)).toMatch(
      /^in namespace operators: may not list pods, .*get secrets.*: --store-secret and/,
    );
  });

  it('waits for a namespace without a RoleBinding, and serves it once it has one', async () => {
    let isBound = false;
    const asked = await found(
      ['--namespaces=team-a,team-b'],
      ({ namespace, group }) => group !== 'etcd.improbable.io' && (namespace !== 'team-b' || isBound),
    );
    const [bound, unbound] = asked.places;
    expect([bound?.whenGranted, unbound?.dialects.map(({ name }) => name)]).toEqual([undefined, ['coreos']]);
    expect(asked.lines.every((line) => line.startsWith('in namespace team-b: may not '))).toBe(true);
    const place = unbound?.whenGranted?.(new AbortController().signal);
    await asked.clock.advance(40_000);
    isBound = true;
    await asked.clock.advance(20_000);
    expect(await place).toMatchObject({ namespace: 'team-b', lacks: new Set() });
    expect(asked.linesNow()).toEqual([]);
  });

  it('does not treat a single failed review as a granted right', async () => {
    let fails = false;
    const asked = await found(named, ({ namespace, resource }) => {
      if (fails && resource === 'etcdclusters') {
        fails = false;
        throw new Failure('unreachable', 'the API server is busy');
      }
      return namespace !== 'team-b';
    });
    let place: unknown;
    const stop = new AbortController();
    const waiting = asked.places[1]?.whenGranted?.(stop.signal).then((granted) => (place = granted));
    await asked.clock.advance(20_000);
    fails = true;
    await asked.clock.advance(20_000);
    expect([fails, place]).toEqual([false, undefined]);
    stop.abort();
    await waiting;
  });
});
