import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { connect } from '../../test/support/etcd-connect.ts';
import { startFakeEtcd } from '../../test/support/etcd-fake.ts';

const header = { clusterId: 1n, memberId: 1n };
const memberNamed = (name: string) => ({ ID: 1n, id: 1n, name, peerUrls: [`http://${name}:2380`], clientUrls: [] });
const listOf = (members: readonly object[]) =>
  startFakeEtcd({
    cluster: { memberList: () => ({ header, members }) as never },
    kv: { range: () => ({ header, kvs: [] }) },
  });

describe('an untrusted etcd', () => {
  it('that lists 200 000 members causes a failure', async () => {
    await using fake = await listOf(Array.from({ length: 200_000 }, (_, i) => memberNamed(`m${i}`)));
    const asked = connect(fake, { timeoutMillis: 20_000 }).memberList();
    await expect(asked).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('larger than') });
  });

  it('that lists more members than a cluster can have, in a small answer, causes a failure', async () => {
    await using fake = await listOf(Array.from({ length: 65 }, (_, i) => memberNamed(`m${i}`)));
    await expect(connect(fake).memberList()).rejects.toThrow('etcd lists 65 members');
  });

  it('that returns a member name of 100 000 characters causes a failure', async () => {
    await using fake = await listOf([memberNamed('m'.repeat(100_000))]);
    await expect(connect(fake).memberList()).rejects.toThrow('name or address that is too long');
  });

  it('that returns a long version causes a failure; its error list is truncated', async () => {
    const errors = Array.from({ length: 1000 }, () => 'e'.repeat(900));
    let version = 'v'.repeat(1000);
    await using fake = await startFakeEtcd({ maintenance: { status: () => ({ header, version, errors }) } });
    await expect(connect(fake).status()).rejects.toThrow('version that is too long');
    version = '3.6.0';
    expect((await connect(fake).status()).errors).toHaveLength(16);
  });

  it.each(['memberList', 'status', 'alarms', 'linearizableRead'] as const)(
    'that sends an endless answer to %s costs less than 16 MiB',
    async (method) => {
      let sent = 0;
      const chunk = Buffer.alloc(1 << 18);
      const server = createServer();
      server.on('sessionError', () => {});
      server.on('stream', (stream) => {
        stream.on('error', () => {});
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
        const head = Buffer.alloc(5);
        head.writeUInt32BE(0xfffffff0, 1);
        stream.write(head);
        const push = (): void => {
          for (let isReady = true; isReady && !stream.destroyed; sent += chunk.length) isReady = stream.write(chunk);
          if (!stream.destroyed) stream.once('drain', push);
        };
        push();
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const etcd = connect({ url: `http://127.0.0.1:${port}` }, { timeoutMillis: 30_000 });
      await expect(etcd[method]()).rejects.toMatchObject({ message: expect.stringContaining('larger than') });
      expect(sent).toBeLessThan(16 * 1024 * 1024);
      etcd.close();
      server.close();
    },
  );

  it.each(['memberList', 'status', 'alarms', 'linearizableRead'] as const)(
    'that answers %s one byte at a time fails at the deadline',
    async (method) => {
      const server = createServer();
      server.on('sessionError', () => {});
      server.on('stream', (stream) => {
        stream.on('error', () => {});
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
        const head = Buffer.alloc(5);
        head.writeUInt32BE(1000, 1);
        stream.write(head);
        const timer = setInterval(() => stream.write(Buffer.alloc(1)), 20);
        stream.once('close', () => clearInterval(timer));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const etcd = connect({ url: `http://127.0.0.1:${port}` }, { timeoutMillis: 300 });
      const message = expect.stringContaining('no answer within 300 ms') as unknown;
      await expect(etcd[method]()).rejects.toMatchObject({ kind: 'unreachable', message });
      etcd.close();
      server.close();
    },
  );

  it('that sends a very long error message is quoted in short', async () => {
    const status = () => {
      throw new ConnectError('x'.repeat(30_000), Code.Internal);
    };
    await using fake = await startFakeEtcd({ maintenance: { status } });
    const failure = await connect(fake)
      .status()
      .catch((thrown: Error) => thrown);
    expect((failure as Error).message.length).toBeLessThan(2_000);
    expect((failure as Error).message).toContain('xxx');
  });

  it('with large user values can be read', async () => {
    const kvs = [{ key: Buffer.from('k'), value: Buffer.alloc(3 * 1024 * 1024) }];
    await using fake = await startFakeEtcd({ kv: { range: () => ({ header, kvs }) } });
    expect((await connect(fake).get('k'))?.value).toHaveLength(3 * 1024 * 1024);
  });
});
