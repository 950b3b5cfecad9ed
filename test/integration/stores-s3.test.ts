import dns from 'node:dns';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openOrSuggest } from '../../src/agents/candidates.ts';
import type { StoreAddress } from '../../src/storage/address.ts';
import { openStore } from '../../src/storage/open.ts';
import { awsSecret, openOn, type StoreServer, s3Keys, startS3 } from '../support/store-servers.ts';
import { bytes, keepsTheStoreContract, large, survivesItsServer } from './stores.contract.ts';

keepsTheStoreContract('S3', () => startS3());
survivesItsServer('S3', () => startS3());

describe('S3', () => {
  let server: StoreServer;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const wrong: Record<string, Readonly<Record<string, string>>> = {
    'an unknown key': awsSecret('nobody'),
    'a wrong secret': awsSecret(s3Keys.id, 'wrong'),
  };
  for (const [what, secret] of Object.entries(wrong))
    it(`names the Secret and its key when it is shown ${what}`, async () => {
      using store = await openOn(server, { secret });
      await expect(store.put('a', bytes('x'))).rejects.toMatchObject({
        trouble: 'denied',
        message: expect.stringContaining('profile "default" in key "credentials" of Secret "store-secret"'),
      });
    });

  it('takes bare keys, with a session token', async () => {
    const secret = {
      AWS_ACCESS_KEY_ID: s3Keys.id,
      AWS_SECRET_ACCESS_KEY: `${s3Keys.secret}\n`,
      AWS_REGION: 'us-east-1',
    };
    using store = await openOn(server, { secret });
    await store.put('bare', bytes('x'));
    const shown = await tokenShownBy({ ...secret, AWS_SESSION_TOKEN: 'a-token' });
    expect(shown).toBe('a-token');
    const inFile = `${awsSecret()['credentials']}aws_session_token = in-file\n`;
    expect(await tokenShownBy({ ...awsSecret(), credentials: inFile })).toBe('in-file');
  });

  it('takes another profile than the default', async () => {
    const secret = { ...awsSecret(), credentials: (awsSecret()['credentials'] ?? '').replace('default', 'backup') };
    using store = await openOn(server, { secret, address: { profile: 'backup' } });
    await store.put('profile', bytes('x'));
    using none = await openOn(server, { secret });
    await expect(none.put('profile', bytes('x'))).rejects.toMatchObject({ trouble: 'no-credentials' });
  });

  it('leaves no unfinished upload behind when a writer fails', async () => {
    using store = await openOn(server);
    const half = async function* () {
      yield* large(40);
      throw new Error('gone');
    };
    await expect(store.put('unfinished', half())).rejects.toThrow('gone');
    const { ListMultipartUploadsCommand, S3Client } = await import('@aws-sdk/client-s3');
    const client = new S3Client({
      ...{ endpoint: server.address.endpoint ?? '', region: 'us-east-1', forcePathStyle: true },
      credentials: { accessKeyId: s3Keys.id, secretAccessKey: s3Keys.secret },
    });
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: server.address.bucket }));
    client.destroy();
    expect(Uploads).toEqual([]);
  });

  it('without a Secret says that it has no credentials', async () => {
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    vi.stubEnv('HOME', server.directory);
    using store = await openStore(server.address);
    await expect(store.head('a')).rejects.toMatchObject({
      trouble: 'no-credentials',
      message: expect.stringContaining('workload identity'),
    });
    vi.unstubAllEnvs();
  });
});

/** Which session token a request bears that is made with this Secret. */
async function tokenShownBy(secret: Readonly<Record<string, string>>): Promise<string | undefined> {
  let shown: string | undefined;
  const listener = createServer((request, response) => {
    shown = request.headers['x-amz-security-token'] as string | undefined;
    response.writeHead(404).end();
  });
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  const { port } = listener.address() as { port: number };
  await using server = await startS3();
  using store = await openOn(server, { secret, address: { endpoint: `http://127.0.0.1:${port}` } });
  await store.head('a').catch(() => undefined);
  listener.close();
  listener.closeAllConnections();
  return shown;
}

it('S3 is asked for exactly the key that is meant, a "/" before it included', async () => {
  const asked: string[] = [];
  const listener = createServer((request, response) => {
    asked.push(request.url ?? '');
    const isThere = request.url?.startsWith('/backups//p/x.db?') === true;
    const text = isThere ? 'kept' : '';
    response.writeHead(isThere ? 200 : 404, { 'content-length': text.length }).end(text);
  });
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  const { port } = listener.address() as { port: number };
  const endpoint = `http://127.0.0.1:${port}`;
  const address: StoreAddress = { kind: 's3', bucket: 'backups', pathStyle: true, region: 'r', endpoint };
  const keys = new Map([
    ['AWS_ACCESS_KEY_ID', s3Keys.id],
    ['AWS_SECRET_ACCESS_KEY', s3Keys.secret],
  ]);
  using store = await openStore(address, { credentials: { secret: 's', directory: '/', keys } });
  const { body } = await openOrSuggest(store, { store: address, key: 'p/x.db' }, new AbortController().signal);
  expect(Buffer.concat(await Array.fromAsync(body)).toString()).toBe('kept');
  expect(asked.map((url) => url.split('?')[0])).toEqual(['/backups/p/x.db', '/backups//p/x.db']);
  listener.close();
  listener.closeAllConnections();
});

describe('OSS', () => {
  const domain = 'oss.test';
  const secret = { accessKeyID: s3Keys.id, accessKeySecret: s3Keys.secret };
  const asOss = async (): Promise<StoreServer> => {
    const server = await startS3({ domain });
    return { ...server, address: { ...server.address, kind: 'oss' }, secret };
  };
  beforeAll(() => {
    // Nobody knows these names, and nobody should have to be told for a test.
    vi.spyOn(dns, 'lookup').mockImplementation(((
      _name: string,
      options: { all?: boolean },
      tell: (...a: unknown[]) => void,
    ) =>
      options.all === true ? tell(null, [{ address: '127.0.0.1', family: 4 }]) : tell(null, '127.0.0.1', 4)) as never);
  });
  afterAll(() => vi.restoreAllMocks());

  keepsTheStoreContract('OSS, bucket in the host', asOss);

  it('says which key its Secret lacks', async () => {
    await using server = await asOss();
    await expect(openOn(server, { secret: { accessKeyID: 'x' } })).rejects.toThrow(
      /"store-secret" has nothing under "accessKeySecret"/,
    );
    using store = await openOn(server, { secret: { ...secret, accessKeySecret: 'wrong' } });
    await expect(store.put('a', bytes('x'))).rejects.toThrow(/key "accessKeyID" and key "accessKeySecret" of Secret/);
  });
});
