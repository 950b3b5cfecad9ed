import { type Bundle, type Holder, holders, type Keyring } from './bundle.ts';

/**
 * One stage of a change of certificates. At no stage does a member serve a certificate that another member does not
 * trust. `adopt`: store the first certificates. `trust`: add the new CA beside the old CA. `show`: serve the new
 * certificates, once all members trust the new CA. `forget`: drop the old CA, once no member serves a certificate of
 * it.
 */
export type Stage = 'adopt' | 'trust' | 'show' | 'forget';

export interface Staging {
  readonly stage: Stage;
  /** The content of the member Secret after this stage. */
  readonly bundle: Bundle;
}

/**
 * The next stage from the stored bundle (`kept`) to the wanted bundle (`offered`); undefined if both are equal.
 * Keyrings of a holder without TLS stay until the holder is in `idle`: member pods may still use them.
 */
export function nextStage(
  kept: Bundle | undefined,
  offered: Bundle,
  idle: readonly Holder[] = [],
): Staging | undefined {
  if (kept === undefined || holders.some((holder) => offered[holder] !== undefined && kept[holder] === undefined))
    return { stage: 'adopt', bundle: { ...offered, ...kept } };
  const trusting = each(offered, (ours, holder) => ({
    ...(kept[holder] ?? ours),
    authorities: union(kept[holder], ours),
  }));
  if (!isAmong(trusting, kept)) return { stage: 'trust', bundle: { ...kept, ...trusting } };
  const showing = each(offered, (ours, holder) => ({ ...ours, authorities: kept[holder]?.authorities ?? [] }));
  if (!isAmong(showing, kept)) return { stage: 'show', bundle: { ...kept, ...showing } };
  const left = without(idle, { ...kept, ...offered });
  return isAmong(kept, left) ? undefined : { stage: 'forget', bundle: left };
}

const without = (some: readonly Holder[], bundle: Bundle): Bundle =>
  Object.fromEntries(Object.entries(bundle).filter(([holder]) => !some.some((gone) => gone === holder)));

const each = (bundle: Bundle, change: (keyring: Keyring, holder: (typeof holders)[number]) => Keyring): Bundle =>
  Object.fromEntries(
    holders.flatMap((holder) => {
      const keyring = bundle[holder];
      return keyring === undefined ? [] : [[holder, change(keyring, holder)]];
    }),
  );

const union = (kept: Keyring | undefined, offered: Keyring): readonly string[] => [
  ...new Set([...(kept?.authorities ?? []), ...offered.authorities]),
];

const isAmong = (some: Bundle, all: Bundle): boolean =>
  holders.every((holder) => some[holder] === undefined || sameText(some[holder]) === sameText(all[holder]));

const sameText = (keyring: Keyring | undefined): string =>
  keyring === undefined
    ? ''
    : [keyring.certificate.trim(), keyring.key.trim(), ...keyring.authorities.toSorted()].join('\n');
