import type { MemberTemplate, Naming } from '../model/template.ts';

type Texts = Readonly<Record<string, string>>;

/** Remembers on a pod which labels and annotations came from the user, so that they can be taken away again. */
export const passedAnnotation = ({ prefix }: Naming): string => `${prefix}/passed`;

export const passedNames = ({ labels, annotations }: Pick<MemberTemplate, 'labels' | 'annotations'>): string =>
  JSON.stringify({ labels: Object.keys(labels).toSorted(), annotations: Object.keys(annotations).toSorted() });

export interface Marked {
  readonly labels?: Texts | undefined;
  readonly annotations?: Texts | undefined;
}

/** Whether a pod has just the labels and annotations that its user wants, beside those of others. */
export function isLabelled(metadata: Marked, template: MemberTemplate, naming: Naming): boolean {
  const { labels = {}, annotations = {} } = metadata;
  const names = annotations[passedAnnotation(naming)];
  return (
    (names === undefined || names === passedNames(template)) &&
    hasAll(labels, template.labels) &&
    hasAll(annotations, template.annotations)
  );
}

const hasAll = (there: Texts, wanted: Texts): boolean =>
  Object.entries(wanted).every(([name, value]) => there[name] === value);

/** What a patch has to say to make it so: null takes away. */
export function relabelling(metadata: Marked, template: MemberTemplate, naming: Naming): object {
  const before = passedIn(metadata.annotations?.[passedAnnotation(naming)]);
  return {
    labels: { ...nullsFor(before.labels), ...template.labels },
    annotations: {
      ...nullsFor(before.annotations),
      ...template.annotations,
      [passedAnnotation(naming)]: passedNames(template),
    },
  };
}

const nullsFor = (names: readonly string[]): Readonly<Record<string, null>> =>
  Object.fromEntries(names.map((name) => [name, null]));

function passedIn(text: string | undefined): { labels: readonly string[]; annotations: readonly string[] } {
  try {
    const { labels, annotations } = JSON.parse(text ?? '{}') as Record<string, unknown>;
    return { labels: namesIn(labels), annotations: namesIn(annotations) };
  } catch {
    return { labels: [], annotations: [] }; // somebody wrote it by hand
  }
}

const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
