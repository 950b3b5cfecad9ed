import { describe, expect, it } from 'vitest';
import { type Bundle, bundleIn, caBundleHash, filesOf, type Keyring } from './bundle.ts';
import { nextStage, type Stage } from './staging.ts';

const authority = (name: string): string => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----`;
const keyring = (certificate: string, ...authorities: readonly string[]): Keyring => ({
  certificate,
  key: `key of ${certificate}`,
  authorities: authorities.map(authority),
});
/** Certificates and CAs of one generation, for all holders. */
const generation = (name: string): Bundle => ({
  peer: keyring(`${name} peer`, `${name} peers`),
  server: keyring(`${name} server`, `${name} clients`),
  operator: keyring(`${name} operator`, `${name} clients`),
});

const issuerOf = (served: Keyring | undefined, kind: string): string =>
  authority(`${served?.certificate.split(' ')[0]} ${kind}`);

/** All stages from one bundle to another, with the stored bundle after each. */
function walk(from: Bundle | undefined, to: Bundle): readonly { readonly stage: Stage; readonly bundle: Bundle }[] {
  const next = nextStage(from, to);
  return next === undefined ? [] : [next, ...walk(next.bundle, to)];
}

const stages = (from: Bundle | undefined, to: Bundle): readonly Stage[] => walk(from, to).map(({ stage }) => stage);

describe('the stored certificate bundle of members', () => {
  it('is at first the offered bundle', () => {
    expect(stages(undefined, generation('old'))).toEqual(['adopt']);
    expect(nextStage(generation('old'), generation('old'))).toBeUndefined();
  });

  it('takes a new certificate of a trusted CA at once', () => {
    const renewed = { ...generation('old'), peer: keyring('renewed peer', 'old peers') };
    expect(stages(generation('old'), renewed)).toEqual(['show']);
  });

  it('trusts both CAs before it moves to the new CA', () => {
    const walked = walk(generation('old'), generation('new'));
    expect(walked.map(({ stage }) => stage)).toEqual(['trust', 'show', 'forget']);
    expect(walked.map(({ bundle }) => bundle.peer)).toEqual([
      keyring('old peer', 'old peers', 'new peers'),
      keyring('new peer', 'old peers', 'new peers'),
      keyring('new peer', 'new peers'),
    ]);
    expect(walked.at(-1)?.bundle).toEqual(generation('new'));
  });

  it('never contains a certificate that the bundle before or after it does not trust', () => {
    const kept = [generation('old'), ...walk(generation('old'), generation('new')).map(({ bundle }) => bundle)];
    // While a stage is rolled out, some members have the bundle before it and some the bundle after it.
    const meetings = kept
      .slice(1)
      .flatMap((bundle, index) => [[kept[index] ?? {}, bundle] as const, [bundle, kept[index] ?? {}] as const]);
    expect(meetings).toHaveLength(6);
    for (const [one, other] of meetings) {
      expect(other.peer?.authorities).toContain(issuerOf(one.peer, 'peers'));
      expect(other.server?.authorities).toContain(issuerOf(one.operator, 'clients'));
      expect(other.operator?.authorities).toContain(issuerOf(one.server, 'clients'));
    }
  });

  it('follows a new offered bundle in the middle of a rollout', () => {
    const [trusting] = walk(generation('old'), generation('new'));
    expect(stages(trusting?.bundle, generation('newest'))).toEqual(['trust', 'show', 'forget']);
    expect(stages(trusting?.bundle, generation('old'))).toEqual(['forget']);
  });

  it('gains a keyring when TLS is switched on, and keeps it when TLS is switched off', () => {
    const { peer, ...clients } = generation('old');
    const added = nextStage(clients, generation('old'));
    expect(added).toEqual({ stage: 'adopt', bundle: generation('old') });
    expect(nextStage(generation('old'), { ...(peer === undefined ? {} : { peer }) })).toBeUndefined();
  });

  it('drops a keyring without TLS once no member uses it', () => {
    const { peer, ...clients } = generation('old');
    const offered = peer === undefined ? {} : { peer };
    const idle = ['server', 'operator'] as const;
    expect(nextStage(generation('old'), offered, idle)).toEqual({ stage: 'forget', bundle: offered });
    expect(nextStage(offered, offered, idle)).toBeUndefined();
    expect(nextStage(offered, { ...offered, ...clients })).toMatchObject({ stage: 'adopt' });
  });

  it('is unchanged by trailing newlines and by the order of CAs', () => {
    const [one, other] = [keyring('c', 'a', 'b'), keyring('c\n', 'b', 'a')];
    expect(nextStage({ peer: one }, { peer: { ...other, key: one.key } })).toBeUndefined();
  });

  it('survives a round trip through the files of a Secret', () => {
    const bundle = generation('old');
    expect(bundleIn(filesOf(bundle))).toEqual(bundle);
    expect(bundleIn({ ...filesOf(bundle), 'peer.key': '' }).peer).toBeUndefined();
  });
});

describe('the CA hash of members', () => {
  it('changes with the CAs that members trust and with nothing else', () => {
    const hash = (bundle: Bundle): string => caBundleHash(bundle, ['peer', 'server']);
    const [old, renewed] = [generation('old'), { ...generation('old'), peer: keyring('renewed', 'old peers') }];
    expect(hash(renewed)).toBe(hash(old));
    expect(hash(generation('new'))).not.toBe(hash(old));
    expect(hash({ ...old, operator: keyring('other', 'other') })).toBe(hash(old));
  });
});
