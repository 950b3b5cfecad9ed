import { z } from 'zod';
import { certificateLifetimeHours, rotate, secretName } from './member-settings.ts';
import { ruled } from './rule.ts';

interface StaticTls {
  readonly operatorSecret?: string | undefined;
  readonly member?: { readonly serverSecret?: string | undefined } | undefined;
}

const celOperatorSecret = "(has(self.operatorSecret) && self.operatorSecret != '')";
const celServerSecret = "(has(self.member) && has(self.member.serverSecret) && self.member.serverSecret != '')";
const hasOperatorSecret = ({ operatorSecret }: StaticTls): boolean => Boolean(operatorSecret);
const hasServerSecret = ({ member }: StaticTls): boolean => Boolean(member?.serverSecret);

const staticTls = ruled(
  z.object({
    member: z
      .object({
        peerSecret: secretName
          .optional()
          .describe(
            'Secret with peer.crt, peer.key and peer-ca.crt (or tls.crt, tls.key and ca.crt): members talk TLS to each other.',
          ),
        serverSecret: secretName
          .optional()
          .describe(
            'Secret with server.crt, server.key and server-ca.crt (or tls.crt, tls.key and ca.crt): clients talk TLS to members.',
          ),
      })
      .optional()
      .describe("The members' own certificates."),
    operatorSecret: secretName
      .optional()
      .describe(
        "Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt (or tls.crt, tls.key and ca.crt): the operator's own, as a client.",
      ),
  }),
  {
    cel: `!${celOperatorSecret} || ${celServerSecret}`,
    says: 'operator secret set but member serverSecret not set',
    holds: (tls) => !hasOperatorSecret(tls) || hasServerSecret(tls),
  },
  {
    cel: `!${celServerSecret} || ${celOperatorSecret}`,
    says: 'member serverSecret set but operator secret not set',
    holds: (tls) => !hasServerSecret(tls) || hasOperatorSecret(tls),
  },
);

const managedTls = z.object({
  certificateLifetimeHours: certificateLifetimeHours.optional(),
  rotate: rotate.optional(),
});

/** Encryption, as both APIs have it. */
export const tls = ruled(
  z.object({
    static: staticTls.optional().describe('Certificates that you make and keep in Secrets.'),
    managed: managedTls
      .optional()
      .describe(
        'Certificates that the operator makes and renews, between members and for clients: {} is enough. Clients find theirs in the Secret <cluster>-client-tls.',
      ),
    acceptPlainClients: z
      .boolean()
      .optional()
      .describe(
        'true: clients are served with and without encryption, on the same port, until this is false again. For moving clients from one to the other.',
      ),
  }),
  {
    cel: '!has(self.static) || !has(self.managed)',
    says: 'static and managed exclude each other: leave one of them out',
    holds: (written) => written.static === undefined || written.managed === undefined,
  },
);

export type Tls = z.output<typeof tls>;

/** `field` is what an API calls it. */
export const managedNeedsNewer = <Field extends string>(field: Field) =>
  ({
    cel: `!has(self.${field}) || !has(self.${field}.managed) || !self.version.matches(r'^v?3[.][01][.].*$')`,
    says: `${field}.managed needs etcd 3.2 or newer, which reads renewed certificates by itself: raise version`,
    holds: (spec: { readonly version: string } & { readonly [F in Field]?: Pick<Tls, 'managed'> | undefined }) =>
      spec[field]?.managed === undefined || !/^v?3[.][01][.]/.test(spec.version),
  }) as const;
