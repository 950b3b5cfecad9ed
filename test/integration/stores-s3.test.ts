import dns from 'node:dns';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openOrSuggest } from '../../src/agent/candidates.ts';
import type { StoreAddress } from '../../src/objectstore/address.ts';
import { openStore } from '../../src/objectstore/open.ts';
import { awsSecret, openOn, type StoreServer, s3Keys, startS3 } from '../support/store-servers.ts';
import { bytes, large, testServerFailures, testStoreContract } from './stores.contract.ts';

testStoreContract('S3', () => startS3());
testServerFailures('S3', () => startS3());

describe('S3', () => {
  let server: StoreServer;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const wrong: Record<string, Readonly<Record<string, string>>> = {
    'an unknown access key': awsSecret('unknown'),
    'a wrong secret key': awsSecret(s3Keys.id, 'wrong'),
  };
  for (const [what, secret] of Object.entries(wrong))
    it(`with ${what} is denied, and the message names the Secret and its key`, async () => {
      using store = await openOn(server, { secret });
      await expect(store.put('a', bytes('x'))).rejects.toMatchObject({
        trouble: 'denied',
        message: expect.stringContaining('profile "default" in key "credentials" of Secret "store-secret"'),
      });
    });

  it('takes bare AWS_* keys and a session token from the Secret', async () => {
    const secret = {
      AWS_ACCESS_KEY_ID: s3Keys.id,
      AWS_SECRET_ACCESS_KEY: `${s3Keys.secret}\n`,
      AWS_REGION: 'us-east-1',
    };
    using store = await openOn(server, { secret });
    await store.put('bare', bytes('x'));
    const sent = await sentSessionToken({ ...secret, AWS_SESSION_TOKEN: 'a-token' });
    expect(sent).toBe('a-token');
    const inFile = `${awsSecret()['credentials']}aws_session_token = in-file\n`;
    expect(await sentSessionToken({ ...awsSecret(), credentials: inFile })).toBe('in-file');
  });

  it('takes another profile than the default one', async () => {
    const secret = { ...awsSecret(), credentials: (awsSecret()['credentials'] ?? '').replace('default', 'backup') };
    using store = await openOn(server, { secret, address: { profile: 'backup' } });
    await store.put('profile', bytes('x'));
    using none = await openOn(server, { secret });
    await expect(none.put('profile', bytes('x'))).rejects.toMatchObject({ trouble: 'no-credentials' });
  });

  it('aborts the multipart upload when the writer fails', async () => {
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

  it('without a Secret fails with no-credentials', async () => {
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

/** Returns the session token of a request made with this Secret. */
async function sentSessionToken(secret: Readonly<Record<string, string>>): Promise<string | undefined> {
  let token: string | undefined;
  const listener = createServer((request, response) => {
    token = request.headers['x-amz-security-token'] as string | undefined;
    response.writeHead(404).end();
  });
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  const { port } = listener.address() as { port: number };
  await using server = await startS3();
  using store = await openOn(server, { secret, address: { endpoint: `http://127.0.0.1:${port}` } });
  await store.head('a').catch(() => undefined);
  listener.close();
  listener.closeAllConnections();
  return token;
}

it('a missing key in S3 is looked up again with a leading "/"', async () => {
  const requestUrls: string[] = [];
  const listener = createServer((request, response) => {
    requestUrls.push(request.url ?? '');
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
  expect(requestUrls.map((url) => url.split('?')[0])).toEqual(['/backups/p/x.db', '/backups//p/x.db']);
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
    // The bucket is part of the host name, and no DNS server resolves these names.
    vi.spyOn(dns, 'lookup').mockImplementation(((
      _name: string,
      options: { all?: boolean },
      callback: (...a: unknown[]) => void,
    ) =>
      options.all === true
        ? callback(null, [{ address: '127.0.0.1', family: 4 }])
        : callback(null, '127.0.0.1', 4)) as never);
  });
  afterAll(() => vi.restoreAllMocks());

  testStoreContract('OSS, bucket in the host', asOss);

  it('names the key that is missing in its Secret', async () => {
    await using server = await asOss();
    await expect(openOn(server, { secret: { accessKeyID: 'x' } })).rejects.toThrow(
      /"store-secret" has no value for "accessKeySecret"/,
    );
    using store = await openOn(server, { secret: { ...secret, accessKeySecret: 'wrong' } });
    await expect(store.put('a', bytes('x'))).rejects.toThrow(/key "accessKeyID" and key "accessKeySecret" of Secret/);
  });
});
