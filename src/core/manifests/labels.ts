import type { MemberTemplate, Naming } from '../cluster/model/template.ts';

/** On the pods of members that the client Service leads to. */
export const servingLabel = ({ prefix }: Pick<Naming, 'prefix'>): string => `${prefix}/serving`;

type StringMap = Readonly<Record<string, string>>;

/** Records on a pod the labels and annotations that come from the spec, so that they can be removed later. */
export const userMetadataAnnotation = ({ prefix }: Naming): string => `${prefix}/user-metadata-keys`;

export const userMetadataKeys = ({ labels, annotations }: Pick<MemberTemplate, 'labels' | 'annotations'>): string =>
  JSON.stringify({ labels: Object.keys(labels).toSorted(), annotations: Object.keys(annotations).toSorted() });

export interface ObjectMetadata {
  readonly labels?: StringMap | undefined;
  readonly annotations?: StringMap | undefined;
}

/** True if a pod has exactly the labels and annotations of the spec. Labels of other writers are ignored. */
export function isLabelled(metadata: ObjectMetadata, template: MemberTemplate, naming: Naming): boolean {
  const { labels = {}, annotations = {} } = metadata;
  const names = annotations[userMetadataAnnotation(naming)];
  return (
    (names === undefined || names === userMetadataKeys(template)) &&
    hasAll(labels, template.labels) &&
    hasAll(annotations, template.annotations)
  );
}

const hasAll = (there: StringMap, wanted: StringMap): boolean =>
  Object.entries(wanted).every(([name, value]) => there[name] === value);

/** The merge patch for the labels and annotations of the spec; null removes a key. */
export function metadataPatch(metadata: ObjectMetadata, template: MemberTemplate, naming: Naming): object {
  const before = userKeysIn(metadata.annotations?.[userMetadataAnnotation(naming)]);
  return {
    labels: { ...nullsFor(before.labels), ...template.labels },
    annotations: {
      ...nullsFor(before.annotations),
      ...template.annotations,
      [userMetadataAnnotation(naming)]: userMetadataKeys(template),
    },
  };
}

const nullsFor = (names: readonly string[]): Readonly<Record<string, null>> =>
  Object.fromEntries(names.map((name) => [name, null]));

function userKeysIn(text: string | undefined): { labels: readonly string[]; annotations: readonly string[] } {
  try {
    const { labels, annotations } = JSON.parse(text ?? '{}') as Record<string, unknown>;
    return { labels: namesIn(labels), annotations: namesIn(annotations) };
  } catch {
    return { labels: [], annotations: [] }; // the annotation was edited by hand
  }
}

const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
