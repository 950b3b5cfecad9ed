import { z } from 'zod';
import type { Rule } from './rule.ts';

/** How much text a spec may put into the environment and the annotations of its pods, in all. */
const podTextKibibytes = 64;
const mostBytes = podTextKibibytes * 1024;

interface Variable {
  readonly name: string;
  readonly value?: string | undefined;
}

interface PodTexts {
  readonly etcdEnv?: readonly Variable[] | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The two fields as the expression and the message name them, below the field that the rule is on. */
interface TextFields {
  readonly env: string;
  readonly annotations: string;
  /** What has to be there for the annotations to be, outermost first. */
  readonly hasAnnotations: string;
}

const celBytes = (text: string): string => `size(bytes(${text}))`;

const celEnv = (field: string): string =>
  `(has(self.${field}) ? self.${field}.map(each, ${celBytes('each.name')} + ` +
  `(has(each.value) ? ${celBytes('each.value')} : 0)).sum() : 0)`;

const celAnnotations = ({ annotations: field, hasAnnotations }: TextFields): string =>
  `(${hasAnnotations} ? self.${field}.map(name, ${celBytes('name')} + ${celBytes(`self.${field}[name]`)}).sum() : 0)`;

/** Every member's pod has all of it, and the operator holds a copy of each pod. */
export const limitedTexts = <T>(fields: TextFields, textsOf: (pod: T) => PodTexts): Rule<T> => ({
  cel: `${celEnv(fields.env)} + ${celAnnotations(fields)} <= ${mostBytes}`,
  says:
    `${fields.env} and ${fields.annotations} must not have more than ${podTextKibibytes} KiB of names and values in all: ` +
    'put large values into a ConfigMap',
  holds: (pod) => bytesOf(textsOf(pod)) <= mostBytes,
});

const bytesOf = ({ etcdEnv = [], annotations = {} }: PodTexts): number =>
  Buffer.byteLength(
    [...etcdEnv.flatMap(({ name, value = '' }) => [name, value]), ...Object.entries(annotations).flat()].join(''),
  );

const mostJson = 16 * 1024;

/** The API server cannot limit what it has no schema of. */
export const notTooMuch = <S extends z.ZodType>(schema: S): S =>
  schema.refine(isNotTooMuch, `must not have more than ${mostJson} characters as JSON`);

function isNotTooMuch(value: unknown): boolean {
  try {
    return JSON.stringify(value).length <= mostJson;
  } catch {
    return false; // nested so deeply that it cannot be written down
  }
}

/** Kept whole, whatever is in it. */
export const anything = notTooMuch(z.looseObject({}));
