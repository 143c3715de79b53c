import * as z from 'zod/mini';
import { DEFAULT_SCHEDULER } from '../../core/scheduling/scheduler-profile.js';
import { DEFAULT_PLUGINS, EXTENSION_POINTS, type ExtensionPoint } from '../../core/scheduling/scheduler-plugins.js';
import { describe } from '../../config/value/document.js';
import { NODE_OPERATORS } from '../kubernetes/cluster/invalid-requirements.js';
import { flag, integer, MAX_INT32, refuse, refuseAt } from '../../config/value/scalar.js';

export const API_VERSION = 'kubescheduler.config.k8s.io/v1';

const word = z.transform((input: unknown, payload) => {
  if (input === undefined || input === '') return refuse(payload, input, 'EVICTD_CONFIG_MISSING', 'is missing', 'give it a value');
  if (typeof input === 'string') return input;
  return refuse(payload, input, 'EVICTD_CONFIG_TYPE', `expected a text, got ${describe(input)}`, 'put it in quotes if it is text');
});
const optionally = z.optional;
const listOf = <T extends z.core.SomeType>(item: T) => optionally(z.array(item));
/** A known key whose value is not checked. */
const anything = optionally(z.unknown());
const percent = optionally(integer(0, 100));
const policy = optionally(z.enum(['Honor', 'Ignore']));
const args = <T extends z.core.$ZodShape>(shape: T) => z.strictObject({ apiVersion: optionally(word), kind: optionally(word), ...shape });

/** A list of what has names, each once. */
function distinct<T extends z.core.$ZodType<{ readonly name: string }>>(item: T) {
  return z.pipe(
    z.array(item),
    z.transform((list, payload) => {
      for (const [index, { name }] of list.entries())
        if (list.findIndex((other) => other.name === name) < index)
          refuseAt(payload, name, 'EVICTD_CONFIG_VALUE', `duplicate ${name}`, 'remove one of them', [index]);
      return list;
    }),
  );
}

const requirement = z.strictObject({
  key: word,
  operator: z.enum(NODE_OPERATORS),
  values: listOf(word),
});
const term = z.strictObject({ matchExpressions: listOf(requirement), matchFields: listOf(requirement) });
const resource = z.strictObject({ name: word, weight: optionally(integer(0, 100)) });
const shapePoint = z.strictObject({ utilization: integer(0, 100), score: integer(0, 10) });

const fitArgs = z.pipe(
  args({
    ignoredResources: listOf(word),
    ignoredResourceGroups: listOf(word),
    scoringStrategy: optionally(
      z.strictObject({
        type: z.enum(['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio']),
        resources: listOf(resource),
        requestedToCapacityRatio: optionally(z.strictObject({ shape: z.array(shapePoint) })),
      }),
    ),
  }),
  z.transform(({ ignoredResourceGroups: groups = [], scoringStrategy: strategy }, payload) => {
    const wrong = (path: readonly (string | number)[], message: string, hint: string): void => {
      refuseAt(payload, strategy, 'EVICTD_CONFIG_VALUE', message, hint, path);
    };
    for (const [index, group] of groups.entries())
      if (group.includes('/'))
        wrong(['ignoredResourceGroups', index], `${JSON.stringify(group)} is not a group`, 'write what comes before the /');
    if (strategy === undefined) return;
    const ratio = ['scoringStrategy', 'requestedToCapacityRatio'];
    const shape = strategy.requestedToCapacityRatio?.shape ?? [];
    if ((strategy.type === 'RequestedToCapacityRatio') !== shape.length > 0)
      wrong(ratio, 'a shape and the type RequestedToCapacityRatio belong together', 'give both or none');
    for (const [index, { utilization }] of shape.entries())
      if (utilization <= (shape[index - 1]?.utilization ?? -1))
        wrong([...ratio, 'shape', index, 'utilization'], `${String(utilization)} is not above the one before`, 'sort the points');
  }),
);

const balanceArgs = args({
  resources: optionally(distinct(z.strictObject({ name: word, weight: optionally(integer(0, 1)) }))),
});

const spreadArgs = z.pipe(
  args({
    defaultingType: optionally(z.enum(['System', 'List'])),
    defaultConstraints: listOf(
      z.strictObject({
        maxSkew: integer(1, MAX_INT32),
        topologyKey: word,
        whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
        minDomains: optionally(integer(1, MAX_INT32)),
        nodeAffinityPolicy: policy,
        nodeTaintsPolicy: policy,
      }),
    ),
  }),
  z.transform(({ defaultingType, defaultConstraints: list = [] }, payload) => {
    const path = ['defaultConstraints'];
    if (list.length > 0 && defaultingType !== 'List')
      refuseAt(payload, list, 'EVICTD_CONFIG_VALUE', 'count only with defaultingType List', 'write defaultingType: List', path);
    for (const [index, { topologyKey, whenUnsatisfiable }] of list.entries())
      if (list.findIndex((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable) < index)
        refuseAt(payload, list, 'EVICTD_CONFIG_VALUE', 'the same key and action twice', 'remove one of them', [...path, index]);
  }),
);

const preemptionArgs = z.pipe(
  args({ minCandidateNodesPercentage: percent, minCandidateNodesAbsolute: optionally(integer(0, MAX_INT32)) }),
  z.transform(({ minCandidateNodesPercentage: share, minCandidateNodesAbsolute: count }, payload) => {
    if (share === 0 && count === 0)
      refuseAt(payload, share, 'EVICTD_CONFIG_VALUE', 'both are 0', 'give one of them', ['minCandidateNodesPercentage']);
  }),
);

/** The arguments of plugins (apis/config/types_pluginargs.go and validation_pluginargs.go, v1.36), by plugin. */
const PLUGIN_ARGS = {
  NodeResourcesFit: fitArgs,
  NodeResourcesBalancedAllocation: balanceArgs,
  InterPodAffinity: args({ hardPodAffinityWeight: percent, ignorePreferredTermsOfExistingPods: optionally(flag) }),
  NodeAffinity: args({
    addedAffinity: optionally(
      z.strictObject({
        requiredDuringSchedulingIgnoredDuringExecution: optionally(z.strictObject({ nodeSelectorTerms: z.array(term) })),
        preferredDuringSchedulingIgnoredDuringExecution: listOf(z.strictObject({ weight: integer(1, 100), preference: term })),
      }),
    ),
  }),
  PodTopologySpread: spreadArgs,
  DefaultPreemption: preemptionArgs,
  // How long the scheduler waits, which decides nothing here.
  VolumeBinding: args({ bindTimeoutSeconds: anything }),
  DynamicResources: args({ filterTimeout: anything, bindingTimeout: anything }),
} as const;

const pluginSetAt = (point: ExtensionPoint | 'multiPoint') =>
  z.pipe(
    z.strictObject({
      enabled: optionally(distinct(z.strictObject({ name: word, weight: optionally(integer(0, MAX_INT32)) }))),
      disabled: listOf(z.strictObject({ name: word, weight: anything })),
    }),
    z.transform(({ enabled = [], disabled = [] }, payload) => {
      for (const [index, { name }] of enabled.entries()) {
        const { points } = DEFAULT_PLUGINS.find((plugin) => plugin.name === name) ?? {};
        if (points === undefined || point === 'multiPoint' || points.includes(point)) continue;
        const hint = `it acts at ${points.join(', ')}`;
        refuseAt(payload, name, 'EVICTD_CONFIG_VALUE', `${name} does not act at ${point}`, hint, ['enabled', index, 'name']);
      }
      const weighted = enabled.map(({ name, weight = 0 }) => ({ name, weight }));
      return { enabled: weighted, disabled: disabled.map(({ name }) => name) };
    }),
  );

const plugins = z.strictObject(
  Object.fromEntries([...EXTENSION_POINTS, 'multiPoint' as const].map((point) => [point, optionally(pluginSetAt(point))])),
);

/** Nested issues keep their place. */
const pluginConfig = z.pipe(
  z.strictObject({ name: word, args: optionally(z.record(z.string(), z.unknown())) }),
  z.transform(({ name, args: written = {} }, payload) => {
    const found = argsSchema(name)?.safeParse(written, { reportInput: true });
    for (const issue of found?.error?.issues ?? []) payload.issues.push({ ...issue, path: ['args', ...issue.path] } as z.core.$ZodRawIssue);
    for (const [key, right] of [
      ['apiVersion', API_VERSION],
      ['kind', `${name}Args`],
    ] as const)
      if (written[key] !== undefined && written[key] !== right)
        refuseAt(payload, written[key], 'EVICTD_CONFIG_KIND', `not ${right}`, `write ${key}: ${right}`, ['args', key]);
    return { name };
  }),
);

/** undefined: a plugin without arguments, or an unknown one. */
export function argsSchema(name: string): (z.core.$ZodType & { safeParse: z.ZodMiniType['safeParse'] }) | undefined {
  return Object.hasOwn(PLUGIN_ARGS, name) ? PLUGIN_ARGS[name as keyof typeof PLUGIN_ARGS] : undefined;
}

const profile = z.strictObject({
  schedulerName: optionally(word),
  percentageOfNodesToScore: percent,
  plugins: optionally(plugins),
  pluginConfig: optionally(distinct(pluginConfig)),
});

/** kubescheduler.config.k8s.io/v1 KubeSchedulerConfiguration. */
export const schedulerConfigSchema = z.pipe(
  z.strictObject({
    apiVersion: word,
    kind: word,
    percentageOfNodesToScore: percent,
    profiles: listOf(profile),
    extenders: listOf(z.record(z.string(), z.unknown())),
    ...{ podInitialBackoffSeconds: anything, podMaxBackoffSeconds: anything },
    // They do not decide where a pod runs.
    ...{ parallelism: anything, leaderElection: anything, clientConnection: anything, enableProfiling: anything },
    ...{ enableContentionProfiling: anything, delayCacheUntilActive: anything },
  }),
  z.transform((config, payload) => {
    const { profiles = [] } = config;
    const names = profiles.map(({ schedulerName }) => schedulerName ?? (profiles.length === 1 ? DEFAULT_SCHEDULER : undefined));
    for (const [index, name] of names.entries()) {
      const path = ['profiles', index, 'schedulerName'];
      if (name === undefined) refuseAt(payload, name, 'EVICTD_CONFIG_MISSING', 'is missing', 'give it a value', path);
      else if (names.indexOf(name) < index) refuseAt(payload, name, 'EVICTD_CONFIG_VALUE', `duplicate ${name}`, 'name each profile', path);
    }
    return config;
  }),
);
