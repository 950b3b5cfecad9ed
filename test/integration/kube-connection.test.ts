import { describe, expect, it } from 'vitest';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { namespaces, nodes } from '../../src/kube/resource.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { tunnelTo } from '../support/tunnel.ts';
import { until } from '../support/until.ts';

/** Long enough that a busy machine does not delay three answers. */
const pingMillis = 1_000;
/** Longer than this test, so that no watch times out by itself. */
const idleSeconds = 3_600;

describe('the connection', () => {
  it('is shared by all requests and watches, and is replaced after unanswered pings', async () => {
    await using tunnel = await tunnelTo(kubeconfigPath());
    const connection = connectTo(tunnel.access, { userAgent: 'integration-test', pingMillis });
    const client = new HttpKubeClient(connection, { fieldManager: 'integration-test' });
    const { resourceVersion } = await client.list(namespaces);
    const watching = Array.from({ length: 5 }, async () => {
      const none = { resourceVersion, fieldSelector: 'metadata.name=none', idleSeconds };
      for await (const _ of client.watch(nodes, none));
    });
    const ends = Promise.allSettled(watching);
    await Promise.all(Array.from({ length: 30 }, () => client.list(namespaces)));
    expect(tunnel.opened()).toBe(1);
    const answered = tunnel.received() + 5;
    await until(
      'more pings were answered than may stay unanswered',
      async () => tunnel.received() > answered || undefined,
    );
    await client.read('/version');
    expect(tunnel.opened()).toBe(1);

    tunnel.cut();
    const message = expect.stringContaining('the API server answers no pings') as unknown;
    for (const end of await ends)
      expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unreachable', message } });
    await client.read('/version');
    expect(tunnel.opened()).toBe(2);
    await connection.close();
  });
});
