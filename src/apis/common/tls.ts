import { z } from 'zod';
import { certificateLifetimeHours, rotate, secretName } from './member-settings.ts';
import { withRules } from './schema/rule.ts';

interface StaticTls {
  readonly operatorSecret?: string | undefined;
  readonly member?: { readonly serverSecret?: string | undefined } | undefined;
}

const celOperatorSecret = "(has(self.operatorSecret) && self.operatorSecret != '')";
const celServerSecret = "(has(self.member) && has(self.member.serverSecret) && self.member.serverSecret != '')";
const hasOperatorSecret = ({ operatorSecret }: StaticTls): boolean => Boolean(operatorSecret);
const hasServerSecret = ({ member }: StaticTls): boolean => Boolean(member?.serverSecret);

const staticTls = withRules(
  z.object({
    member: z
      .object({
        peerSecret: secretName
          .optional()
          .describe(
            'peerSecret is the Secret with peer.crt, peer.key and peer-ca.crt (or tls.crt, tls.key and ca.crt), for TLS between members.',
          ),
        serverSecret: secretName
          .optional()
          .describe(
            'serverSecret is the Secret with server.crt, server.key and server-ca.crt (or tls.crt, tls.key and ca.crt), for TLS with clients.',
          ),
      })
      .optional()
      .describe('member has the Secrets with the certificates of members.'),
    operatorSecret: secretName
      .optional()
      .describe(
        "operatorSecret is the Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt (or tls.crt, tls.key and ca.crt): the operator's client certificate.",
      ),
  }),
  {
    cel: `!${celOperatorSecret} || ${celServerSecret}`,
    message: 'operator secret set but member serverSecret not set',
    holds: (tls) => !hasOperatorSecret(tls) || hasServerSecret(tls),
  },
  {
    cel: `!${celServerSecret} || ${celOperatorSecret}`,
    message: 'member serverSecret set but operator secret not set',
    holds: (tls) => !hasServerSecret(tls) || hasOperatorSecret(tls),
  },
);

const managedTls = z.object({
  certificateLifetimeHours: certificateLifetimeHours.optional(),
  rotate: rotate.optional(),
});

/** The TLS settings of both APIs. */
export const tls = withRules(
  z.object({
    static: staticTls.optional().describe('static is for certificates that you issue and store in Secrets.'),
    managed: managedTls
      .optional()
      .describe(
        'managed is for certificates that the operator issues and renews, for members and clients: {} is enough. The client certificate is in the Secret <cluster>-client-tls.',
      ),
    acceptPlainClients: z
      .boolean()
      .optional()
      .describe(
        'acceptPlainClients serves clients with and without TLS on the same port while it is true. Use it to migrate clients.',
      ),
  }),
  {
    cel: '!has(self.static) || !has(self.managed)',
    message: 'static and managed exclude each other: leave one of them out',
    holds: (written) => written.static === undefined || written.managed === undefined,
  },
);

export type Tls = z.output<typeof tls>;

/** `field`: the name of the TLS field in the API. */
export const managedTlsNeedsEtcd32 = <Field extends string>(field: Field) =>
  ({
    cel: `!has(self.${field}) || !has(self.${field}.managed) || !self.version.matches(r'^v?3[.][01][.].*$')`,
    message: `${field}.managed needs etcd 3.2 or newer, which reads renewed certificates by itself: raise version`,
    holds: (spec: { readonly version: string } & { readonly [F in Field]?: Pick<Tls, 'managed'> | undefined }) =>
      spec[field]?.managed === undefined || !/^v?3[.][01][.]/.test(spec.version),
  }) as const;
