import { type Bundle, type Holder, holders, type Keyring } from './bundle.ts';

/**
 * How what is kept for members becomes what is offered, without anybody ever being shown a certificate that they do not
 * believe. `adopt`: there is nothing yet. `trust`: the new authorities beside the old ones. `show`: the new certificates,
 * once everybody believes them. `forget`: the old authorities go, once nobody shows a certificate of theirs.
 */
export type Stage = 'adopt' | 'trust' | 'show' | 'forget';

export interface Staging {
  readonly stage: Stage;
  /** What is kept when the stage is reached. */
  readonly bundle: Bundle;
}

/**
 * The next stage; none when what is kept is what is offered. What is kept of a side that is no longer encrypted stays until
 * it is idle: somebody may still run with it.
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
