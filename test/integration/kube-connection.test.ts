import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { namespaces, nodes } from '../../src/kube/resource.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { tunnelTo } from '../support/tunnel.ts';

describe('the connection', () => {
  it('is one for all requests and watches, and is replaced when it falls silent', async () => {
    await using tunnel = await tunnelTo(kubeconfigPath());
    const connection = connectTo(tunnel.access, { userAgent: 'integration-test', pingMillis: 200 });
    const client = new HttpKubeClient(connection, { fieldManager: 'integration-test' });
    const { resourceVersion } = await client.list(namespaces);
    const watching = Array.from({ length: 5 }, async () => {
      for await (const _ of client.watch(nodes, { resourceVersion, fieldSelector: 'metadata.name=none' }));
    });
    const ends = Promise.allSettled(watching);
    await Promise.all(Array.from({ length: 30 }, () => client.list(namespaces)));
    expect(tunnel.opened()).toBe(1);
    await sleep(2_000); // many pings are answered, and nothing is dropped
    await client.read('/version');
    expect(tunnel.opened()).toBe(1);

    tunnel.cut();
    const began = performance.now();
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unreachable' } });
    expect(performance.now() - began).toBeLessThan(3_000);
    await client.read('/version');
    expect(tunnel.opened()).toBe(2);
    await connection.close();
  });
});
