import { z } from 'zod';
import { nanosOf } from '../../../std/quantity.ts';
import { anyObject, limitedJson } from '../pod-budget.ts';
import { listBy, looksLike, table, text, type ValidationRule, withRules } from './rule.ts';

/**
 * Kubernetes types that users set in our APIs and that are copied into pods and PVCs. Simple fields are validated here.
 * Large types are kept unchanged, and the API server validates them when the pod is created.
 */

const int32 = 2_147_483_647;
/** A user or group ID. */
const id = z.int().min(0).max(int32);

const labelName = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?[/])?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** The rule that all keys of a map are valid names of labels or annotations. */
export const qualifiedNames = (of: string): ValidationRule<Readonly<Record<string, string>>> => ({
  cel: `self.all(name, name.size() <= 317 && name.matches(r'${labelName.source}'))`,
  message: `each ${of} name must be up to 63 letters, digits, '-', '_' and '.', optionally after a DNS name and '/'`,
  holds: (entries) => Object.keys(entries).every((name) => name.length <= 317 && labelName.test(name)),
});

export const labelValue = withRules(
  text(63),
  looksLike(
    /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
    "must be up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
  ),
);

export const nodeSelector = withRules(table(labelValue, 32), qualifiedNames('label'));

/** A quantity that is not negative and not much longer than any that is meant. */
export const quantityForm =
  /^[+]?([0-9]{1,18}([.][0-9]{0,9})?|[.][0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$/;

export const quantity = withRules(
  z
    .union([z.int(), text(32)], { error: 'must be a whole number or text' })
    .meta({ 'x-kubernetes-int-or-string': true, maxLength: 32 }),
  {
    cel: `string(self).matches(r'${quantityForm.source}')`,
    message: 'must be a quantity that is not negative, such as 500m, 2 or 1.5Gi',
    holds: (value) => quantityForm.test(String(value)),
  },
);

const quantities = table(quantity, 16);
type Quantities = z.output<typeof quantities>;

const withinLimits = (requests: Quantities, limits: Quantities): boolean =>
  Object.entries(requests).every(([name, wanted]) => {
    const limit = limits[name];
    return limit === undefined || nanosOf(wanted) <= nanosOf(limit);
  });

/** Values that are not quantities pass: another rule reports them at their own path. */
const celWithinLimit = (request: string, limit: string): string =>
  `!isQuantity(${request}) || !isQuantity(${limit}) || quantity(${request}).compareTo(quantity(${limit})) <= 0`;

export const resources = withRules(z.object({ limits: quantities.optional(), requests: quantities.optional() }), {
  cel:
    '!has(self.limits) || !has(self.requests) || self.requests.all(name, !(name in self.limits) || ' +
    `${celWithinLimit('string(self.requests[name])', 'string(self.limits[name])')})`,
  message: 'a request must not be more than the limit of the same resource: raise the limit or lower the request',
  holds: ({ limits, requests }) => withinLimits(requests ?? {}, limits ?? {}),
});

export const affinity = z.object({
  nodeAffinity: anyObject.optional(),
  podAffinity: anyObject.optional(),
  podAntiAffinity: anyObject.optional(),
});

export const toleration = z.object({
  key: text(317).optional(),
  operator: z.enum(['', 'Exists', 'Equal', 'Lt', 'Gt']).optional(),
  value: text(63).optional(),
  effect: z.enum(['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.int().min(-int32).max(int32).optional(),
});

type Variable = z.ZodObject<{
  name: z.ZodString;
  value: z.ZodOptional<z.ZodString>;
  valueFrom: z.ZodOptional<typeof anyObject>;
}>;

interface Setting {
  readonly name: string;
  readonly value?: string | undefined;
}

/** Some versions of etcd compact in an endless loop with a negative retention. Line breaks are always mistakes. */
const validSetting: ValidationRule<Setting> = {
  cel: "!self.name.startsWith('ETCD_') || !has(self.value) || !(self.value.startsWith('-') || self.value.contains('\\n'))",
  message: 'the value of an etcd setting must not be negative and must not have line breaks',
  holds: ({ name, value = '' }) => !name.startsWith('ETCD_') || !(value.startsWith('-') || value.includes('\n')),
};

/** Names and defaults of etcd. */
const elections = { name: 'ETCD_ELECTION_TIMEOUT', milliseconds: 1000 } as const;
const heartbeats = { name: 'ETCD_HEARTBEAT_INTERVAL', milliseconds: 100 } as const;
type Timing = typeof elections | typeof heartbeats;

const wholeNumber = /^\d+$/; // short, because the API server estimates the cost of a rule by the length of its patterns

const celMilliseconds = ({ name, milliseconds }: Timing): string =>
  `self.filter(each, each.name == '${name}' && has(each.value) && each.value.matches(r'${wholeNumber.source}'))` +
  `.map(each, int(each.value)) + [${milliseconds}]`;

const millisecondsIn = (settings: readonly Setting[], { name, milliseconds }: Timing): number => {
  const written = settings.find((each) => each.name === name)?.value ?? '';
  return wholeNumber.test(written) ? Number(written) : milliseconds;
};

/** etcd does not start with a shorter election timeout. Values that are not numbers are refused by etcd itself. */
const electionTimeoutRule: ValidationRule<readonly Setting[]> = {
  cel: `(${celMilliseconds(elections)})[0] >= 5 * (${celMilliseconds(heartbeats)})[0]`,
  message: `${elections.name} must be at least five times ${heartbeats.name}: raise the one or lower the other`,
  holds: (settings) => millisecondsIn(settings, elections) >= 5 * millisecondsIn(settings, heartbeats),
};

/** A list of environment variables. `rule` applies to their names. */
export const environment = (rule: ValidationRule<string>): z.ZodArray<Variable> =>
  withRules(
    listBy(
      'name',
      withRules(
        z.object({
          name: withRules(
            text(253),
            looksLike(
              /^[-._a-zA-Z][-._a-zA-Z0-9]*$/,
              "must be made of letters, digits, '_', '-' and '.', and not begin with a digit",
            ),
            rule,
          ),
          value: text(32_768).optional(),
          valueFrom: anyObject.optional(),
        }),
        validSetting,
      ),
      128,
    ),
    electionTimeoutRule,
  );

export const podSecurityContext = limitedJson(
  z.looseObject({
    runAsUser: id.optional(),
    runAsGroup: id.optional(),
    runAsNonRoot: z.boolean().optional(),
    fsGroup: id.optional(),
    supplementalGroups: z.array(id).max(64).optional(),
  }),
);

const positiveSize: ValidationRule<z.output<typeof quantity>> = {
  cel: "!isQuantity(string(self)) || quantity(string(self)).isGreaterThan(quantity('0'))",
  message: 'must be greater than 0, such as 1Gi',
  holds: (value) => nanosOf(value) > 0n,
};

/** A transition rule: only the API server has the old value, so `holds` is always true. */
const noShrinking: ValidationRule<z.output<typeof quantity>> = {
  cel:
    '!isQuantity(string(self)) || !isQuantity(string(oldSelf)) || ' +
    'quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0',
  message: 'must not be less than before: a volume can grow, but not shrink',
  holds: () => true,
};

const noDataSource = (field: 'dataSource' | 'dataSourceRef'): ValidationRule<Readonly<Record<string, unknown>>> => ({
  cel: `!has(self.${field})`,
  message: `${field} is not supported, because a member must start on an empty volume: leave it out`,
  holds: (claim) => claim[field] === undefined,
});

/** The rules for a PVC with an empty volume. */
export const emptyVolumeRules = [noDataSource('dataSource'), noDataSource('dataSourceRef')] as const;

export const claimSpec = withRules(
  z.object({
    accessModes: withRules(z.array(text(64)).min(1).max(4), {
      cel: "!('ReadOnlyMany' in self)",
      message: 'must not be ReadOnlyMany: etcd writes to its volume',
      holds: (modes) => !modes.includes('ReadOnlyMany'),
    }),
    resources: z.object({
      requests: z.object({ storage: withRules(quantity, positiveSize, noShrinking) }),
      limits: z.object({ storage: quantity.optional() }).optional(),
    }),
    storageClassName: text(253).optional(),
    volumeAttributesClassName: text(253).optional(),
    volumeMode: z.enum(['Filesystem'], { error: 'must be Filesystem: etcd keeps files' }).optional(),
    volumeName: text(253).optional(),
    selector: anyObject.optional(),
    dataSource: anyObject.optional(),
    dataSourceRef: anyObject.optional(),
  }),
  noDataSource('dataSource'),
  noDataSource('dataSourceRef'),
);
