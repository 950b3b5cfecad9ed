import type { Part } from './parts.ts';

const line = '='.repeat(100);

const opening = (product: string): string => `THIRD-PARTY NOTICES of ${product}

The image of ${product} holds the software below. Texts that several packages share are there once, under all their names. Where a
package comes without a text, the licence is the one that its authors name.

The sources of Debian's packages are at https://snapshot.debian.org, under the versions that are named here.
`;

/** The notices file: the licences of all parts, with their texts. */
export function noticesOf(product: string, parts: readonly Part[]): string {
  const named = parts.map((part) => `${titleOf(part)}: ${part.licence ?? 'no licence given'}`);
  return [opening(product), named.join('\n'), ...sections(parts), ''].join('\n');
}

export const titleOf = ({ name, version }: Part): string => (version === undefined ? name : `${name} ${version}`);

/** One section per text, with the names of all parts that share it. */
function sections(parts: readonly Part[]): readonly string[] {
  const all = parts.flatMap((part) =>
    part.texts.map(({ title, text }) => ({ of: `${titleOf(part)} (${title})`, text: normalized(text) })),
  );
  const byText = Map.groupBy(all, ({ text }) => text);
  return [...byText].map(([text, those]) => [line, ...those.map(({ of }) => of), line, text].join('\n'));
}

const normalized = (text: string): string => `${text.replaceAll('\r\n', '\n').trim()}\n`;
