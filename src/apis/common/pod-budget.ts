import { z } from 'zod';
import type { ValidationRule } from './schema/rule.ts';

/** The limit of a spec for environment variables and annotations of its pods together. */
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

/** Paths of the two fields, relative to the field with the rule. */
interface TextFields {
  readonly env: string;
  readonly annotations: string;
  /** The CEL expression that is true if annotations are set. */
  readonly hasAnnotations: string;
}

const celBytes = (text: string): string => `size(bytes(${text}))`;

const celEnv = (field: string): string =>
  `(has(self.${field}) ? self.${field}.map(each, ${celBytes('each.name')} + ` +
  `(has(each.value) ? ${celBytes('each.value')} : 0)).sum() : 0)`;

const celAnnotations = ({ annotations: field, hasAnnotations }: TextFields): string =>
  `(${hasAnnotations} ? self.${field}.map(name, ${celBytes('name')} + ${celBytes(`self.${field}[name]`)}).sum() : 0)`;

/** Limits text that every member pod has. The operator caches all pods, so large texts cost memory. */
export const limitedPodText = <T>(fields: TextFields, textsOf: (pod: T) => PodTexts): ValidationRule<T> => ({
  cel: `${celEnv(fields.env)} + ${celAnnotations(fields)} <= ${mostBytes}`,
  message:
    `${fields.env} and ${fields.annotations} must not have more than ${podTextKibibytes} KiB of names and values in all: ` +
    'put large values into a ConfigMap',
  holds: (pod) => bytesOf(textsOf(pod)) <= mostBytes,
});

const bytesOf = ({ etcdEnv = [], annotations = {} }: PodTexts): number =>
  Buffer.byteLength(
    [...etcdEnv.flatMap(({ name, value = '' }) => [name, value]), ...Object.entries(annotations).flat()].join(''),
  );

const mostJson = 16 * 1024;

/** Limits a value without a schema, which the API server cannot limit. */
export const limitedJson = <S extends z.ZodType>(schema: S): S =>
  schema.refine(isWithinJsonLimit, `must not have more than ${mostJson} characters as JSON`);

function isWithinJsonLimit(value: unknown): boolean {
  try {
    return JSON.stringify(value).length <= mostJson;
  } catch {
    return false; // nested too deeply for JSON.stringify
  }
}

/** An object with any content, kept unchanged. */
export const anyObject = limitedJson(z.looseObject({}));
