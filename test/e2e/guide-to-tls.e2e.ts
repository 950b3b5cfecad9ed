import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { guideReader } from '../support/guide-reader.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { credentials, enableAuth } from '../support/users.ts';
import { condition, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';

story.asOnTheLab('the commands of the TLS guide fetch certificates, switch TLS on and name a user', async (context) => {
  const { kubectl } = context;
  using reader = await guideReader(context);
  const db = declared(kubectl);
  await installOperator(context);
  const member = async (): Promise<string> => (await db.podNames())[0] ?? '';

  await db.apply({ size: 1, version, extra: { TLS: { managed: {} } } });
  await waitFor(kubectl, db.resource, inSeconds(90, condition('Available', 'True')));
  await reader.follow('docs/guide/tls.md', {
    'Certificates that the operator issues': {
      after: () => {
        const [ca, certificate] = ['ca.crt', 'tls.crt'].map(
          (file) => new X509Certificate(readFileSync(join(reader.directory, file))),
        ) as [X509Certificate, X509Certificate];
        expect(certificate.checkIssued(ca)).toBe(true);
        expect(readFileSync(join(reader.directory, 'tls.key'), 'utf8')).toMatch(/^-----BEGIN .*PRIVATE KEY-----/);
      },
    },
    'Certificates that you issue': {
      before: async () => ({ '<pod>': await member() }),
      after: async (output) => expect(output).toContain(await member()),
    },
    'Switching it on and off': {
      before: async () => {
        await kubectl(`delete ${db.resource}`);
        await waitForDeletion(kubectl, `pods -l ${db.label}`);
        await db.apply({ size: 1, version });
        await db.settled(1);
      },
      after: async () => {
        await waitFor(kubectl, db.resource, inSeconds(90, condition('ClientsMoving', 'True')));
        await db.settled(1); // every member accepts TLS and plain connections
      },
    },
    Users: {
      before: async () => ({ 'password=…': `'password=${credentials.password}'` }),
      after: async () => {
        await enableAuth(kubectl, await member());
        await kubectl(`scale ${db.resource} --replicas=2`);
        await declared(kubectl, 'db', { credentials }).settled(2);
      },
    },
  });
});
