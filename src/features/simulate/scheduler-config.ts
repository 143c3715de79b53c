import { readFileSync } from 'node:fs';
import { keysAt } from '../../config/parse/schema.js';
import { reportIssue } from '../../config/parse/zod-issue.js';
import { isRecord, readDocument, withoutNulls, type SettingsDocument } from '../../config/value/document.js';
import { keyText, nearest, Report, type KeyPath } from '../../config/value/report.js';
import { DYNAMIC_RESOURCES } from '../../core/scheduling/filters/dynamic-resources.js';
import { DEFAULT_PLUGINS, pluginsAt, type ExtensionPoint, type PluginSets } from '../../core/scheduling/scheduler-plugins.js';
import { DEFAULT_SCHEDULER, type SchedulerProfiles } from '../../core/scheduling/scheduler-profile.js';
import { InputError, type SourcePosition, messageOf } from '../../errors.js';
import { documentOf, items, member, textOf, type Field } from '../../kubernetes/document.js';
import { schedulerProfileAt } from '../../kubernetes/scheduling/scheduler-profile.js';
import type { Findings } from '../kubernetes/cluster/finding.js';
import { API_VERSION, argsSchema, schedulerConfigSchema } from './scheduler-config-schema.js';

const KIND = 'KubeSchedulerConfiguration';

/**
 * The profiles of a KubeSchedulerConfiguration. What it asks for and evictd does not simulate is a finding.
 *
 * @param file  '-': standard input
 * @throws ConfigError  with every mistake
 * @throws InputError  the file cannot be read
 */
export function readSchedulerConfig(file: string, findings: Findings): SchedulerProfiles {
  const name = file === '-' ? 'standard input' : file;
  const report = new Report();
  const document = readDocument(name, textIn(file, name), report, 'as-numbers');
  const config = document && new SchedulerConfig(document, report);
  if (config === undefined) {
    const hint = `the file has one ${KIND}, as YAML or JSON`;
    for (const issue of report.issues.splice(0)) report.issue(issue.code, issue.message, issue.position, issue.hint ?? hint);
  }
  config?.check();
  report.throwIssues([name]);
  for (const { at, message } of config?.ignored ?? [])
    findings.add('warning', { file: name, line: at.line ?? 1, column: at.column ?? 1 }, '', message);
  return profilesAt(documentOf(document?.value));
}

/** @throws InputError */
function textIn(file: string, name: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new InputError('EVICTD_KUBERNETES_FILE', `${name} cannot be read: ${messageOf(cause)}`, { isMissing: true, cause });
  }
}

function profilesAt(config: Field): SchedulerProfiles {
  const percentage = member(config, 'percentageOfNodesToScore');
  const written = items(member(config, 'profiles'));
  return new Map(
    (written.length === 0 ? [documentOf({})] : written).map((profile) => [
      textOf(member(profile, 'schedulerName')) || DEFAULT_SCHEDULER,
      schedulerProfileAt(profile, percentage),
    ]),
  );
}

/** The extension points at which the plugins of the file are simulated. */
const SIMULATED: ReadonlySet<string> = new Set(['multiPoint', 'preFilter', 'filter', 'postFilter', 'preScore', 'score']);

const PREPARED = [
  ['preFilter', 'filter'],
  ['preScore', 'score'],
] as const;

/** Checks a document: mistakes are issues of the report. */
class SchedulerConfig {
  /** What evictd does not simulate. */
  readonly ignored: { readonly at: SourcePosition; readonly message: string }[] = [];

  constructor(
    readonly document: SettingsDocument,
    readonly report: Report,
  ) {}

  check(): void {
    const value = withoutNulls(this.document.value);
    if (!this.#isConfig(value)) return;
    const { data, error } = schedulerConfigSchema.safeParse(value, { reportInput: true });
    for (const issue of error?.issues ?? []) reportIssue(issue, this.document, this.report, (path) => keysOf(documentOf(value), path));
    if (data === undefined) return;
    const { extenders = [], profiles = [] } = data;
    if (extenders.length > 0) this.#ignored(['extenders'], 'extenders may reject nodes and change scores');
    for (const key of ['podInitialBackoffSeconds', 'podMaxBackoffSeconds'] as const)
      if (data[key] !== undefined) this.#ignored([key], 'a pending pod is tried again as soon as something changes');
    for (const [index, { pluginConfig = [], plugins = {} }] of profiles.entries()) {
      for (const [place, { name }] of pluginConfig.entries())
        if (argsSchema(name) === undefined)
          this.#ignored(['profiles', index, 'pluginConfig', place, 'name'], `${name} has no arguments in kube-scheduler v1.36`);
      this.#checkPlugins(['profiles', index, 'plugins'], plugins);
    }
  }

  #isConfig(value: unknown): boolean {
    const { apiVersion, kind } = isRecord(value) ? value : {};
    if (apiVersion === API_VERSION && kind === KIND) return true;
    const seen = [apiVersion, kind].map((each) => (each === undefined ? 'none' : JSON.stringify(each)));
    const hint = kind === 'ConfigMap' ? 'take the text out of its data' : `write apiVersion: ${API_VERSION} and kind: ${KIND}`;
    const key = kind === KIND ? 'apiVersion' : 'kind';
    this.report.issue('EVICTD_CONFIG_KIND', `no ${KIND}: apiVersion ${seen.join(', kind ')}`, this.document.at([key]), hint);
    return false;
  }

  #checkPlugins(path: KeyPath, sets: PluginSets): void {
    for (const [point, { enabled, disabled }] of Object.entries(sets)) {
      for (const [index, { name }] of enabled.entries()) this.#unknown([...path, point, 'enabled', index, 'name'], name);
      for (const [index, name] of disabled.entries()) if (name !== '*') this.#unknown([...path, point, 'disabled', index, 'name'], name);
      if (!SIMULATED.has(point) && enabled.length + disabled.length > 0) this.#ignored([...path, point], 'the default plugins act here');
    }
    const namesAt = (point: ExtensionPoint): readonly string[] => pluginsAt(point, sets).map(({ name }) => name);
    if (namesAt('filter').includes(DYNAMIC_RESOURCES) && !namesAt('postFilter').includes(DYNAMIC_RESOURCES))
      this.#ignored([...path, 'postFilter'], `${DYNAMIC_RESOURCES} gives devices back in any case`);
    for (const [before, point] of PREPARED) {
      const names = namesAt(before);
      const both = DEFAULT_PLUGINS.filter(({ points }) => points.includes(before) && points.includes(point)).map(({ name }) => name);
      for (const name of namesAt(point))
        if (both.includes(name) && !names.includes(name))
          this.#ignored([...path, before], `${name} is enabled in ${point}, and acts in both`);
    }
  }

  /** Nothing if it is known. */
  #unknown(path: KeyPath, name: string): void {
    const known = DEFAULT_PLUGINS.map((plugin) => plugin.name);
    if (known.includes(name)) return;
    const near = nearest(name, known, 4);
    this.#ignored(path, `${name} is not a plugin of kube-scheduler v1.36${near === undefined ? '' : `: did you mean ${near}?`}`);
  }

  #ignored(path: KeyPath, why: string): void {
    this.ignored.push({ at: this.document.at(path), message: `${keyText(path)}: not simulated: ${why}` });
  }
}

/** The keys that are accepted at a path. Below `args` it depends on the plugin. */
function keysOf(config: Field, path: KeyPath): readonly string[] {
  const [, profile, , entry, args, ...below] = path;
  if (args !== 'args') return keysAt(path, schedulerConfigSchema);
  const named = items(member(items(member(config, 'profiles'))[Number(profile)] ?? config, 'pluginConfig'))[Number(entry)];
  return keysAt(below, argsSchema(textOf(member(named ?? config, 'name'))));
}
