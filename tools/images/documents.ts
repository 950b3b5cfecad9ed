import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { packageVersion } from '../bundle.ts';
import { debianRoot } from '../debian/packages.ts';
import { debianParts } from './debian-parts.ts';
import { nodePart } from './node-part.ts';
import { noticesOf } from './notices.ts';
import { npmParts } from './npm-parts.ts';
import type { Part } from './parts.ts';
import { sbomOf } from './sbom.ts';

/** The directory of the documents in the image. */
export const documentsDirectory = 'usr/share/doc/etcd-operator';

const product = 'etcd-operator';

/** The documents of the image by name: its licence, the notices of all parts, and the SBOM. */
export async function documentsFor(metafile: Metafile, root = debianRoot()): Promise<Readonly<Record<string, string>>> {
  const licence = await readFile(join(import.meta.dirname, '../../LICENSE'), 'utf8');
  const { parts: packages, direct } = await npmParts(metafile);
  const debian = await debianParts(root);
  const node = await nodePart(debian.map(({ purl }) => purl));
  const own = definitions(licence);
  const parts = [node, ...debian, ...own, ...packages];
  const needs = [node, ...own].map(({ purl }) => purl);
  const version = await packageVersion();
  return {
    LICENSE: licence,
    'THIRD-PARTY-NOTICES.txt': noticesOf(product, parts),
    'sbom.cdx.json': sbomOf({ name: product, version, licence: 'Apache-2.0', needs: [...needs, ...direct] }, parts),
  };
}

/** Sources generated from definitions of other projects: the gRPC API of etcd. */
const definitions = (text: string): readonly Part[] => [
  {
    purl: 'pkg:generic/etcd-api-definitions',
    type: 'data',
    name: 'etcd-api-definitions',
    licence: 'Apache-2.0',
    texts: [{ title: 'LICENSE', text }],
    needs: [],
  },
];
