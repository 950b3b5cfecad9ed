import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runAgent } from '../../src/agent/agent.ts';
import { parseAgentResult } from '../../src/controllers/shared/agent-pods.ts';
import { canary, hasCanary } from './canaries.ts';

/** A session token as AWS issues them: it is written in another way in a URL. */
const token = `${canary}/+==`;

/** Credentials with the canary in every secret value. */
const credentials: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  s3: {
    credentials: `[default]\naws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = wJalrXUt\naws_session_token = ${token}\n`,
    config: '[default]\nregion = eu-west-1\n',
  },
  gs: { 'access-token': canary },
  azblob: { 'storage-account': 'tenant1', 'storage-key': Buffer.from(canary).toString('base64') },
  oss: { accessKeyID: canary, accessKeySecret: canary },
};

/** Credentials that no library can read. */
const broken = { credentials: canary, 'credentials.json': `{"private_key": "${canary}"`, 'storage-key': canary };

/** Answers that quote the whole request, with its headers, in the forms of all stores. */
const answers: readonly ((quoted: string) => string)[] = [
  (quoted) => quoted,
  (quoted) => JSON.stringify({ error: { code: 403, message: quoted, errors: [{ message: quoted }] } }),
  (quoted) => `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>${quoted}</Message></Error>`,
];

let directory: string;
let server: Server;
let respond = { status: 403, answer: answers[0] ?? String };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'canary-'));
  server = createServer((request, response) => {
    response.writeHead(respond.status, { 'content-type': 'application/xml' });
    response.end(respond.answer(quoteOf(request)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});

/** The request, and the token as it would be in a URL. */
function quoteOf({ method, url, headers }: IncomingMessage): string {
  const sent = String(headers['x-amz-security-token']);
  return `${method} ${url} authorization: ${headers.authorization} token: ${sent} sts ${encodeURIComponent(sent)}`;
}

/** The termination message of an agent that reads from a store. */
async function inspected(scheme: string, keys: Readonly<Record<string, string>>): Promise<string> {
  const secret = mkdtempSync(join(directory, 'secret-'));
  for (const [name, text] of Object.entries(keys)) writeFileSync(join(secret, name), text);
  const { port } = server.address() as AddressInfo;
  const url = `${scheme}://bucket/key?endpoint=${encodeURIComponent(`http://127.0.0.1:${port}/`)}`;
  const result = join(secret, '..', 'result');
  const flags = ['--url', url, '--credentials', secret, '--secret', 'store', '--result', result, '--timeout', '20'];
  await runAgent(['inspect', ...flags], new AbortController().signal);
  return readFileSync(result, 'utf8');
}

const schemes = Object.entries(credentials);

it.each(schemes)(
  'an agent with %s credentials reports no value of its Secret, whatever the store answers',
  async (scheme, keys) => {
    for (const answer of answers)
      for (const status of [400, 403, 404]) {
        respond = { status, answer };
        const text = await inspected(scheme, keys);
        expect(parseAgentResult(text)).toMatchObject({ ok: false, message: expect.stringMatching(/./) });
        expect(hasCanary(text), text).toBe(false);
      }
  },
);

it.each(schemes.map(([scheme]) => scheme))(
  'an agent with %s credentials that cannot be read reports no value of them',
  async (scheme) => {
    const text = await inspected(scheme, broken);
    expect(parseAgentResult(text)).toMatchObject({ ok: false });
    expect(hasCanary(text), text).toBe(false);
  },
);
