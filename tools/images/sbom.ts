import { createHash } from 'node:crypto';
import type { Part } from './parts.ts';

export interface Product {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** References of its dependencies. */
  readonly needs: readonly string[];
}

/**
 * The SBOM in CycloneDX format. It is reproducible: it has no timestamp and no random number, and its serial number is
 * a hash of the parts.
 */
export function sbomOf({ name, version, licence, needs }: Product, parts: readonly Part[]): string {
  const ref = `pkg:generic/${name}@${version}`;
  const root = { type: 'application', 'bom-ref': ref, name, version, purl: ref, licenses: licensesOf(licence) };
  const content = {
    version: 1,
    metadata: { lifecycles: [{ phase: 'build' }], component: root },
    components: parts.map(componentOf),
    dependencies: [{ ref, dependsOn: needs }, ...parts.map((part) => ({ ref: part.purl, dependsOn: part.needs }))],
  };
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serialOf(JSON.stringify(content)),
    ...content,
  };
  return `${JSON.stringify(bom, null, 1)}\n`;
}

/** A component. Undefined fields are omitted from JSON. */
const componentOf = ({ purl, type, name, version, licence, hashes, cpe, within }: Part): object => ({
  type,
  'bom-ref': purl,
  name,
  version,
  hashes: hashes?.length === 0 ? undefined : hashes,
  licenses: licence === undefined ? undefined : licensesOf(licence),
  cpe,
  purl: purl.startsWith('pkg:') ? purl : undefined,
  components: within?.map((each) => componentOf(each)),
});

/** One licence by ID, several by an expression. */
const licensesOf = (licence: string): readonly object[] =>
  /^[A-Za-z0-9.-]+$/.test(licence) ? [{ license: { id: licence } }] : [{ expression: licence }];

const serialOf = (content: string): string => {
  const hash = createHash('sha256').update(content).digest('hex');
  const groups = [8, 12, 16, 20, 32].map((end, index, ends) => hash.slice(ends[index - 1] ?? 0, end));
  return `urn:uuid:${groups.join('-')}`;
};
