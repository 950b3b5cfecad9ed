import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { packageVersion } from '../bundle.ts';
import { debianRoot } from '../debian/packages.ts';
import { kubernetesVersion } from '../programs/catalog.ts';
import { debianParts } from './debian-parts.ts';
import { nodePart } from './node-part.ts';
import { noticesOf } from './notices.ts';
import { npmParts } from './npm-parts.ts';
import { type Part, purlOf } from './parts.ts';
import { sbomOf } from './sbom.ts';

/** Where they are in the image. */
export const documentsDirectory = 'usr/share/doc/etcd-operator';

const product = 'etcd-operator';

/** What goes with the image, by name: our licence, those of all that is in it, and the list of that. */
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

/** Sources of ours that are made from definitions of others: the calls of etcd, and what kinds of Kubernetes look like. */
const definitions = (text: string): readonly Part[] => {
  const shared = { type: 'data', licence: 'Apache-2.0', texts: [{ title: 'LICENSE', text }], needs: [] } as const;
  const kubernetes = { name: 'kubernetes-api-definitions', version: kubernetesVersion };
  return [
    { ...shared, name: 'etcd-api-definitions', purl: 'pkg:generic/etcd-api-definitions' },
    { ...shared, ...kubernetes, purl: purlOf('generic', kubernetes.name, kubernetes.version) },
  ];
};
