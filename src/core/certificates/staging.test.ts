import { describe, expect, it } from 'vitest';
import { authoritiesMark, type Bundle, bundleIn, filesOf, type Keyring } from './bundle.ts';
import { nextStage, type Stage } from './staging.ts';

const authority = (name: string): string => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----`;
const keyring = (certificate: string, ...authorities: readonly string[]): Keyring => ({
  certificate,
  key: `key of ${certificate}`,
  authorities: authorities.map(authority),
});
/** Both sides of both planes, with certificates and authorities of one generation. */
const generation = (name: string): Bundle => ({
  peer: keyring(`${name} peer`, `${name} peers`),
  server: keyring(`${name} server`, `${name} clients`),
  operator: keyring(`${name} operator`, `${name} clients`),
});

const issuerOf = (shown: Keyring | undefined, kind: string): string =>
  authority(`${shown?.certificate.split(' ')[0]} ${kind}`);

/** All stages from one to the other, and what is kept after each. */
function walk(from: Bundle | undefined, to: Bundle): readonly { readonly stage: Stage; readonly bundle: Bundle }[] {
  const next = nextStage(from, to);
  return next === undefined ? [] : [next, ...walk(next.bundle, to)];
}

const stages = (from: Bundle | undefined, to: Bundle): readonly Stage[] => walk(from, to).map(({ stage }) => stage);

describe('what is kept for members', () => {
  it('is at first what is offered', () => {
    expect(stages(undefined, generation('old'))).toEqual(['adopt']);
    expect(nextStage(generation('old'), generation('old'))).toBeUndefined();
  });

  it('takes a new certificate of an authority that is believed at once', () => {
    const renewed = { ...generation('old'), peer: keyring('renewed peer', 'old peers') };
    expect(stages(generation('old'), renewed)).toEqual(['show']);
  });

  it('reaches new authorities by way of both', () => {
    const walked = walk(generation('old'), generation('new'));
    expect(walked.map(({ stage }) => stage)).toEqual(['trust', 'show', 'forget']);
    expect(walked.map(({ bundle }) => bundle.peer)).toEqual([
      keyring('old peer', 'old peers', 'new peers'),
      keyring('new peer', 'old peers', 'new peers'),
      keyring('new peer', 'new peers'),
    ]);
    expect(walked.at(-1)?.bundle).toEqual(generation('new'));
  });

  it('never shows a certificate to somebody who does not believe it yet, or any more', () => {
    const kept = [generation('old'), ...walk(generation('old'), generation('new')).map(({ bundle }) => bundle)];
    // While a stage is carried out, some have what was before and some what comes.
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

  it('changes its goal on the way', () => {
    const [trusting] = walk(generation('old'), generation('new'));
    expect(stages(trusting?.bundle, generation('newest'))).toEqual(['trust', 'show', 'forget']);
    expect(stages(trusting?.bundle, generation('old'))).toEqual(['forget']);
  });

  it('is extended by a side that is encrypted from now on, and keeps one that no longer is', () => {
    const { peer, ...clients } = generation('old');
    const added = nextStage(clients, generation('old'));
    expect(added).toEqual({ stage: 'adopt', bundle: generation('old') });
    expect(nextStage(generation('old'), { ...(peer === undefined ? {} : { peer }) })).toBeUndefined();
  });

  it('forgets a side that is no longer encrypted once nobody has it any more', () => {
    const { peer, ...clients } = generation('old');
    const offered = peer === undefined ? {} : { peer };
    const idle = ['server', 'operator'] as const;
    expect(nextStage(generation('old'), offered, idle)).toEqual({ stage: 'forget', bundle: offered });
    expect(nextStage(offered, offered, idle)).toBeUndefined();
    expect(nextStage(offered, { ...offered, ...clients })).toMatchObject({ stage: 'adopt' });
  });

  it('is the same however a file is wrapped and in whichever order authorities stand', () => {
    const [one, other] = [keyring('c', 'a', 'b'), keyring('c\n', 'b', 'a')];
    expect(nextStage({ peer: one }, { peer: { ...other, key: one.key } })).toBeUndefined();
  });

  it('is read back from its files as it was written', () => {
    const bundle = generation('old');
    expect(bundleIn(filesOf(bundle))).toEqual(bundle);
    expect(bundleIn({ ...filesOf(bundle), 'peer.key': '' }).peer).toBeUndefined();
  });
});

describe('the mark of what members believe', () => {
  it('changes with authorities and with nothing else', () => {
    const mark = (bundle: Bundle): string => authoritiesMark(bundle, ['peer', 'server']);
    const [old, renewed] = [generation('old'), { ...generation('old'), peer: keyring('renewed', 'old peers') }];
    expect(mark(renewed)).toBe(mark(old));
    expect(mark(generation('new'))).not.toBe(mark(old));
    expect(mark({ ...old, operator: keyring('other', 'other') })).toBe(mark(old));
  });
});
