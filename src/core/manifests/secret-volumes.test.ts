import { describe, expect, it } from 'vitest';
import type { MemberTemplate } from '../cluster/model/template.ts';
import { mapsCurrentKeys, secretVolumes } from './secret-volumes.ts';

const original = { certificate: 'peer.crt', key: 'peer.key', authority: 'peer-ca.crt' };
const others = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' };
const peerTLS = { secret: 'db-peer', mountPath: '/tls', ...original };
const template = (keysFound?: MemberTemplate['keysFound']): MemberTemplate =>
  ({ peerTLS, ...(keysFound === undefined ? {} : { keysFound }) }) as unknown as MemberTemplate;
const volumesFor = (keysFound?: MemberTemplate['keysFound']) => secretVolumes(template(keysFound)) as never;

describe('the volume of a Secret', () => {
  it('maps any keys to the same file names', () => {
    const itemsFor = (keysFound?: MemberTemplate['keysFound']) =>
      (volumesFor(keysFound) as { secret: { items: { key: string; path: string }[] } }[])[0]?.secret.items;
    expect(itemsFor()?.map(({ key, path }) => `${key} ${path}`)).toEqual([
      'peer.crt peer.crt',
      'peer.key peer.key',
      'peer-ca.crt peer-ca.crt',
    ]);
    expect(itemsFor({ peer: others })?.map(({ key, path }) => `${key} ${path}`)).toEqual([
      'tls.crt peer.crt',
      'tls.key peer.key',
      'ca.crt peer-ca.crt',
    ]);
  });

  it('is outdated if the keys are renamed, and not if the keys are unknown', () => {
    const asIs = [{ name: 'member-peer-tls', secret: {} }];
    expect(mapsCurrentKeys(volumesFor({ peer: others }), template({ peer: others }))).toBe(true);
    expect(mapsCurrentKeys(volumesFor({ peer: others }), template({ peer: original }))).toBe(false);
    expect(mapsCurrentKeys(volumesFor({ peer: others }), template())).toBe(true);
    expect(mapsCurrentKeys(asIs, template({ peer: original }))).toBe(true);
    expect(mapsCurrentKeys(asIs, template({ peer: others }))).toBe(false);
  });
});
