import type { Report } from '../../../config/value/report.js';
import { isPlainGlob, scopeText, sourceOf, type CgroupPattern } from '../cgroup-pattern.js';
import { readCommentedJson, type JsonMember, type JsonNode } from '../commented-json.js';
import type { ImportSource } from '../import-source.js';
import { Mappings, type Mapping, type MigratedEntry, type MigratedPolicy, type Migration, type Note } from '../migration.js';
import { DAY_SECONDS, Values } from '../values.js';
import { ACTION_ARGUMENT_ROWS, ACTION_ROWS, ACTIONS, type Action, type MigratedAction } from './actions.js';
import { Args, ARGUMENT_ROWS, DETECTOR_ROWS, DETECTORS, type DetectedCondition, type Detector } from './detectors.js';
import { groupPolicies, type MigratedChain, type MigratedGroup } from './group-policies.js';
import { namesIn } from '../../../core/workload/cgroup.js';
import { readRulesets, type DetectorGroup, type OomdConfig, type Plugin, type Ruleset } from './rulesets.js';

const RULESET_ROWS: readonly Mapping[] = [
  { settings: ['silence-logs'], note: 'evictd logs by level. Nearest: `log: { level: warn }`' },
  { settings: ['drop-in'], note: "evictd's drop-ins (`config.d/*.yaml`) always count, and add policies instead of changing one" },
  { settings: ['prekill_hook_timeout'], note: 'a hook of evictd has a timeout of its own. Nearest: `hooks: { preEvict }`' },
  { settings: ['prekill_hooks'], note: 'it is a plugin in C++. Nearest: `hooks: { preEvict }`, a program' },
  { settings: ['cgroup'], becomes: 'the cgroup of plugins that name none' },
  { settings: ['xattr_filter'], note: 'a scope is a pattern of paths. Its policies only notify. Nearest: `scope` with the names' },
  { settings: ['post_action_delay'], becomes: '`cooldown`' },
  { settings: ['version'], note: 'evictd has `apiVersion`' },
];

const RULESET_MAPPINGS = new Mappings(RULESET_ROWS);
/** The arguments of plugins of both kinds. */
const ARGUMENT_MAPPINGS = new Mappings([...ARGUMENT_ROWS, ...ACTION_ARGUMENT_ROWS]);

/** oomd's default of post_action_delay. */
const DELAY_SECONDS = 15;

/** The rows of docs/migrating.md. */
export const OOMD_ROWS: readonly Mapping[] = [...DETECTOR_ROWS, ...ARGUMENT_ROWS, ...ACTION_ROWS, ...ACTION_ARGUMENT_ROWS, ...RULESET_ROWS];

const REMARKS = [
  'A group of detectors is a policy; the actions of its ruleset are the steps. evictd ends only workloads that a source ' +
    'names, and a policy only those in its scope. A policy of which a condition was lost only notifies.',
];

/** Converts a configuration of oomd (facebookincubator/oomd). What is wrong goes into the report. */
export function convertOomd([source]: readonly ImportSource[], report: Report): Migration {
  const none: Migration = { remarks: REMARKS, settings: [], workloads: [], rules: [], policies: [], rest: [] };
  const root = source && readCommentedJson(source, report);
  if (root === undefined) return none;
  return new Conversion(readRulesets(root, report), new Values(report)).migration();
}

interface Chain extends Omit<MigratedChain, 'hasAllTargets'> {
  /** How much later than the first one the next chain acts. undefined: it does not end yet. */
  readonly nextSeconds: number | undefined;
}

class Conversion {
  readonly #policies: MigratedPolicy[] = [];
  readonly #workloads = new Map<string, MigratedEntry>();
  readonly #rest: Note[] = [];

  constructor(
    private readonly config: OomdConfig,
    private readonly values: Values,
  ) {}

  migration(): Migration {
    const rulesets = this.config.rulesets.map((ruleset) => ({ ruleset, chains: this.#chains(ruleset) }));
    const all = rulesets.flatMap(({ chains }) => chains.flatMap(({ targets }) => targets));
    for (const { ruleset, chains } of rulesets) {
      const [first, ...later] = chains.map((chain) => ({
        ...chain,
        hasAllTargets: all.every((target) => isCovered(target, chain.targets)),
      }));
      if (first !== undefined) this.#ruleset(ruleset, first, later);
    }
    this.#rest.push(...this.config.others.flatMap(memberNotes));
    for (const hook of this.config.hooks) this.#rest.push(...this.#hookNotes(hook));
    const workloads = [...this.#workloads.values()];
    return { remarks: REMARKS, settings: [], workloads, rules: [], policies: this.#policies, rest: this.#rest };
  }

  #ruleset(ruleset: Ruleset, chain: MigratedChain, later: readonly MigratedChain[]): void {
    const others = ruleset.others.flatMap(memberNotes);
    // oomd takes the ruleset only for cgroups with this attribute, whatever the detectors of a group say.
    const filters: DetectedCondition[] = ruleset.others.some(({ key }) => key === 'xattr_filter') ? [{ isLost: true }] : [];
    const groups = ruleset.groups.map((group) => {
      const plain = this.#group(group, cgroupOf(ruleset));
      const migrated = { ...plain, conditions: [...plain.conditions, ...filters] };
      const first = groupPolicies(ruleset.name, migrated, chain);
      const others = later.flatMap((each) =>
        groupPolicies(ruleset.name, { ...migrated, notes: [] }, each).map((policy, index) =>
          index === 0 ? { ...policy, notes: [...each.notes, ...policy.notes] } : policy,
        ),
      );
      return { migrated, policies: [...first, ...others] };
    });
    const idle = groups.filter(({ policies }) => policies.length === 0).flatMap(({ migrated }) => migrated.notes);
    const [first, ...more] = groups.flatMap(({ policies }) => policies);
    if (first === undefined) {
      const title = { setting: `ruleset "${ruleset.name}"`, position: ruleset.position, text: NO_POLICY };
      this.#rest.push(title, ...idle, ...[chain, ...later].flatMap(({ notes }) => notes), ...others);
      return;
    }
    const unused = idle[0] === undefined ? [] : [{ ...idle[0], text: NO_POLICY }, ...idle.slice(1)];
    // What belongs to the ruleset stands above its first policy.
    this.#policies.push({ ...first, notes: [...first.notes, ...chain.notes, ...unused, ...others] }, ...more);
    for (const { targets, notes } of [chain, ...later])
      for (const target of targets) this.#addSource(target, notes[0]?.position ?? ruleset.position);
  }

  #group({ name, position, detectors }: DetectorGroup, ruleset: CgroupPattern | undefined): MigratedGroup {
    const notes: Note[] = name === '' ? [] : [{ setting: `detectors "${name}"`, position, text: 'all of:' }];
    const conditions = detectors.map((plugin) => {
      const detector = Object.hasOwn(DETECTORS, plugin.name) ? DETECTORS[plugin.name] : undefined;
      notes.push({
        setting: written(plugin),
        position: plugin.position,
        text: detector === undefined ? UNKNOWN_PLUGIN : textOf(detector.mapping),
      });
      notes.push(...argumentNotes(plugin, detector));
      return detector === undefined ? { isLost: true as const } : detector.convert(new Args(plugin, this.values, ruleset));
    });
    return { notes, conditions, isNever: conditions.some(({ isNever }) => isNever === true) };
  }

  /** Each ends with an action behind which oomd goes on only if it has failed. */
  #chains(ruleset: Ruleset): readonly [Chain, ...Chain[]] {
    const { actions, others } = ruleset;
    const delay = others.find(({ key }) => key === 'post_action_delay')?.value;
    const rulesetDelay = delay?.kind === 'scalar' ? this.values.number(delay, 'post_action_delay', DAY_SECONDS) : DELAY_SECONDS;
    const cgroup = cgroupOf(ruleset);
    const empty = (laterSeconds: number): Chain => {
      return {
        notes: [],
        steps: [],
        targets: [],
        delaySeconds: undefined,
        laterSeconds,
        ...(cgroup && { cgroup }),
        nextSeconds: undefined,
      };
    };
    let chain = empty(0);
    const chains: Chain[] = [];
    let isStopped = false;
    for (const plugin of actions) {
      const action = Object.hasOwn(ACTIONS, plugin.name) ? ACTIONS[plugin.name] : undefined;
      const converted: MigratedAction = action === undefined || isStopped ? {} : action.convert(new Args(plugin, this.values, cgroup));
      const begins = converted.step === undefined ? '' : whyNext(chain, converted);
      if (begins !== '') {
        chains.push(chain);
        chain = empty(chain.nextSeconds ?? chain.laterSeconds);
      }
      const text = action === undefined ? UNKNOWN_PLUGIN : isStopped ? NOT_TAKEN : textOf(action.mapping) + begins;
      isStopped ||= plugin.name === 'stop';
      const ends = action?.ends === true && !isStopped ? (converted.delaySeconds ?? rulesetDelay) : undefined;
      const goesOn = ['true', 'True', '1'].includes(plugin.args.get('always_continue')?.text ?? '');
      chain = {
        ...chain,
        notes: [...chain.notes, { setting: written(plugin), position: plugin.position, text }, ...argumentNotes(plugin, action)],
        steps: [...chain.steps, ...(converted.step === undefined ? [] : [converted.step])],
        targets: [...chain.targets, ...(converted.targets ?? [])],
        delaySeconds: ends ?? chain.delaySeconds,
        nextSeconds: ends === undefined ? chain.nextSeconds : chain.laterSeconds + (goesOn ? 0 : Math.max(ends, DELAY_SECONDS)),
      };
    }
    const [first = chain, ...more] = chains;
    return first === chain ? [chain] : [first, ...more, chain];
  }

  #hookNotes(hook: Plugin): Note[] {
    return [RULESET_MAPPINGS.note('prekill_hooks', written(hook), hook.position), ...hook.others.flatMap(memberNotes)];
  }

  #addSource(target: CgroupPattern, position: Note['position']): void {
    const found = isPlainGlob(target) ? sourceOf(target) : undefined;
    const setting = `cgroup ${scopeText(target) ?? '/'}`;
    if (found === undefined) {
      this.#rest.push({
        setting,
        position,
        text: 'no counterpart: no source of workloads says this. Nearest: name a slice in `workloads`',
      });
      return;
    }
    const key = JSON.stringify(found.source);
    const note = { setting, position, text: found.wider ?? 'its workloads' };
    const before = this.#workloads.get(key);
    if (before?.notes.some(({ setting: known }) => known === setting) === true) return;
    this.#workloads.set(key, { notes: [...(before?.notes ?? []), note], value: found.source });
  }
}

function cgroupOf({ others }: Ruleset): CgroupPattern | undefined {
  const value = others.find(({ key }) => key === 'cgroup')?.value;
  return value?.kind === 'scalar' ? namesIn(value.text) : undefined;
}

/** Whether the source for a target names only what others are, too. */
function isCovered(target: CgroupPattern, targets: readonly CgroupPattern[]): boolean {
  const source = isPlainGlob(target) ? sourceOf(target) : undefined;
  if (source === undefined || source.wider !== undefined) return false;
  return targets.some((other) => scopeText(other) === scopeText(target));
}

/** Notes about arguments without a counterpart, of a plugin that has one. */
function argumentNotes(plugin: Plugin, converter: Detector | Action | undefined): Note[] {
  const lost = converter?.mapping.becomes === undefined ? [] : [...plugin.args].filter(([name]) => !converter.args.includes(name));
  return [
    ...lost.map(([name, { text, position }]) => ARGUMENT_MAPPINGS.note(name, `${name}=${text}`, position)),
    ...plugin.others.flatMap(memberNotes),
  ];
}

const NO_POLICY = 'no policy: its conditions are never met or have no counterpart, or its actions have none';

const LATER =
  '; a policy of its own, which acts later by `post_action_delay`; oomd takes this action if the one before finds nothing to do, ' +
  'or has `always_continue`';

/** Why a step begins a policy of its own; '': it does not. A policy acts on the same cgroups with each of its steps. */
function whyNext({ nextSeconds, targets: before }: Chain, { targets = [] }: MigratedAction): string {
  if (nextSeconds !== undefined) return LATER;
  const lacks = (all: readonly CgroupPattern[], target: CgroupPattern): boolean =>
    !all.some((known) => scopeText(known) === scopeText(target));
  const isOther = targets.some((target) => lacks(before, target)) || before.some((target) => lacks(targets, target));
  return isOther && before.length > 0 && targets.length > 0 ? '; a policy of its own, for these cgroups' : '';
}

const NOT_TAKEN = 'nothing: the action `stop` before it ends the chain';

const UNKNOWN_PLUGIN = 'no counterpart: a plugin that evictd does not know';

function textOf(mapping: Mapping): string {
  return new Mappings([mapping]).note(mapping.settings[0] ?? '', '', { file: '' }).text;
}

/** `pressure_above(cgroup=system.slice, resource=memory)` */
function written({ name, args }: Plugin): string {
  return `${name}(${[...args].map(([key, { text }]) => `${key}=${text}`).join(', ')})`;
}

function memberNotes({ key, value, position }: JsonMember): Note[] {
  return [RULESET_MAPPINGS.note(key, `${key}=${jsonText(value)}`, position)];
}

function jsonText(node: JsonNode): string {
  switch (node.kind) {
    case 'scalar':
      return node.text;
    case 'list':
      return `[${node.items.map(jsonText).join(', ')}]`;
    case 'map':
      return `{${node.members.map(({ key, value }) => `${key}=${jsonText(value)}`).join(', ')}}`;
  }
}
