import { policyNeeds } from '../../core/policy/condition-needs.js';
import type { ConfiguredPolicy, PolicyCgroups } from '../../core/policy/configured-policy.js';
import type { RawValue } from '../../core/policy/raw-value.js';
import { compileScope, type ScopePattern } from '../../core/policy/scope-pattern.js';
import type { PolicyReadings, ScopeReading } from '../../core/policy/scope-reading.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import { SourceRoot } from '../../workloads/cgroup/source-root.js';
import { CgroupValues } from './cgroup-values.js';
import { NodeValues, type NodeValuesParts } from './node-values.js';
import { MAX_SCOPES, ScopeTree } from './scope-tree.js';

/** Users make cgroups, and each new holder takes a listing. */
const BETWEEN_LISTINGS_NS = 1_000_000_000n;
/** Units in a problem's message. */
const MAX_NAMED = 3;

/** Policies about the same cgroups. */
interface Scope {
  readonly text: string;
  readonly pattern: ScopePattern;
  readonly policies: readonly string[];
  /** A cgroup that conditions of these policies name. */
  readonly isNamed: boolean;
  /** evictd made these policies: it makes them anew when the cgroup has ended. */
  readonly isMade: boolean;
  readonly values: ReadonlySet<RawValue>;
  /** The paths that match now, in order. */
  paths: string[];
}

/** Reads what the conditions of policies need: of the node, and of every cgroup that matches a scope or that a condition names. */
export class PolicyReader {
  readonly #parts: NodeValuesParts;
  readonly #scopes: readonly Scope[];
  readonly #node: NodeValues | undefined;
  readonly #cgroups: CgroupValues | undefined;
  readonly #tree: ScopeTree;
  /** undefined: no policy is about cgroups. */
  readonly #root: SourceRoot | undefined;
  #listed = new Set<string>();
  #nextListingNs = 0n;
  #wanted: ReadonlyMap<string, ReadonlySet<RawValue>> = new Map();
  /** Values by the scopes that match: cgroups with the same scopes share the set, so that a change elsewhere does not affect them. */
  readonly #values = new Map<string, ReadonlySet<RawValue>>();

  constructor(parts: NodeValuesParts, policies: readonly ConfiguredPolicy[]) {
    this.#parts = parts;
    this.#scopes = scopesOf(policies);
    this.#tree = new ScopeTree(this.#scopes.map(({ pattern }) => pattern));
    const ofNode = policyNeeds(policies).node;
    this.#node = ofNode.size === 0 ? undefined : new NodeValues(parts, ofNode);
    const { memory } = parts.hierarchies;
    if (this.#scopes.length === 0 || memory === undefined) return;
    this.#root = new SourceRoot('/', memory.mountPoint, parts.native, this.#tree);
    this.#cgroups = new CgroupValues(
      parts,
      this.#scopes.flatMap(({ values }) => [...values]),
    );
  }

  read(): PolicyReadings {
    this.#follow();
    const readings = this.#cgroups?.read() ?? new Map<string, ScopeReading>();
    const node = this.#node?.read();
    const scopes = new Map<string, readonly ScopeReading[]>();
    const named: ScopeReading[] = [];
    for (const { policies, paths, isNamed } of this.#scopes) {
      const found: ScopeReading[] = [];
      for (const path of paths) {
        const reading = readings.get(path);
        if (reading !== undefined) found.push(reading);
      }
      if (isNamed) named.push(...found);
      else for (const policy of policies) scopes.set(policy, found);
    }
    return { ...(node && { node }), scopes, ...(this.#knowsNamed(readings) && { named }) };
  }

  /** Whether a named cgroup without a reading does not exist: all of them were listed, and those that were found were read. */
  #knowsNamed(readings: ReadonlyMap<string, ScopeReading>): boolean {
    const named = this.#scopes.filter(({ isNamed }) => isNamed);
    if (this.#root === undefined || this.#tree.isCut || named.length === 0) return false;
    return named.every(({ paths }) => paths.every((path) => readings.has(path)));
  }

  /** What operators should know: scopes without a cgroup, or too many. */
  problems(): readonly SourceProblem[] {
    if (this.#parts.hierarchies.memory === undefined && this.#scopes.length > 0) return [NO_CGROUPS];
    const unmatched = this.#scopes.filter(({ paths, isMade }) => paths.length === 0 && !isMade).map(unmatchedScope);
    const watch = this.#root?.problem();
    return [...unmatched, ...tooMany(this.#tree), ...(watch ? [watch] : [])];
  }

  close(): void {
    this.#root?.close();
    this.#cgroups?.close();
    this.#node?.close();
  }

  #follow(): void {
    const [root, cgroups] = [this.#root, this.#cgroups];
    if (root === undefined || cgroups === undefined) return;
    root.watch();
    const changes = root.changes(() => this.#listed.size);
    if (changes === 'unknown') this.#listAgain(root);
    else if (changes !== 'none') {
      for (const [below, kind] of changes) {
        if (kind === 'appeared') this.#listed.add(`/${below}`);
        else this.#listed.delete(`/${below}`);
      }
      this.#match();
    }
    cgroups.follow(this.#wanted);
  }

  #listAgain(root: SourceRoot): void {
    const nowNs = process.hrtime.bigint();
    if (nowNs < this.#nextListingNs) return;
    this.#nextListingNs = nowNs + BETWEEN_LISTINGS_NS;
    this.#listed = new Set(root.list().map((below) => `/${below}`));
    this.#match();
  }

  #match(): void {
    for (const scope of this.#scopes) scope.paths = [];
    const wanted = new Map<string, ReadonlySet<RawValue>>();
    for (const path of [...this.#listed].sort()) {
      const matching = this.#tree.matching(path);
      for (const index of matching) this.#scopes[index]?.paths.push(path);
      wanted.set(path, this.#valuesOf(matching));
    }
    this.#wanted = wanted;
  }

  #valuesOf(scopes: readonly number[]): ReadonlySet<RawValue> {
    const key = scopes.join();
    const known = this.#values.get(key) ?? new Set(scopes.flatMap((index) => [...(this.#scopes[index]?.values ?? [])]));
    this.#values.set(key, known);
    return known;
  }
}

function scopesOf(policies: readonly ConfiguredPolicy[]): readonly Scope[] {
  const alike = new Map<string, ConfiguredPolicy[]>();
  for (const policy of policies) {
    if (policy.scope === undefined) continue;
    const text = textOf(policy.scope);
    alike.set(text, [...(alike.get(text) ?? []), policy]);
  }
  const scopes = [...alike].flatMap(([text, same]): Scope[] => {
    const scope = same[0]?.scope;
    if (scope === undefined) return [];
    const policiesOf = same.map(({ name }) => name);
    return [
      {
        text,
        pattern: compileScope(scope),
        policies: policiesOf,
        isNamed: false,
        isMade: false,
        values: policyNeeds(same).cgroup,
        paths: [],
      },
    ];
  });
  const named = [...policyNeeds(policies).named].map(([path, values]): Scope => {
    const naming = policies.filter((one) => policyNeeds([one]).named.has(path));
    const isMade = naming.every(({ within }) => within !== undefined);
    const names = naming.map(({ name }) => name);
    return { text: path, pattern: compileScope({ paths: [path] }), policies: names, isNamed: true, isMade, values, paths: [] };
  });
  return [...scopes, ...named];
}

function textOf({ cgroup, paths }: PolicyCgroups): string {
  return paths === undefined ? cgroup : paths.join(', ');
}

const NO_CGROUPS: SourceProblem = {
  code: 'EVICTD_POLICY_SCOPE',
  message: 'policies about cgroups do nothing: this machine has no cgroup memory controller',
  hint: 'leave out scope and cgroup(PATH): the policy is about the node then',
};

function tooMany({ isCut, cut }: ScopeTree): readonly SourceProblem[] {
  const [code, hint] = [
    'EVICTD_POLICY_SCOPES_MANY',
    'name the scopes more exactly: `**` includes the cgroups inside of services and containers',
  ];
  const incomplete = [...cut].slice(0, MAX_NAMED).join(', ');
  const all = `the scopes of policies are in or match more than ${String(MAX_SCOPES)} cgroups; the others are not judged`;
  const some = `the scopes of policies take in too many or too deep cgroups of ${incomplete}`;
  return [
    ...(isCut ? [{ code, hint, message: all }] : []),
    ...(cut.size > 0
      ? [{ code, hint, message: `${some}${cut.size > MAX_NAMED ? ' and others' : ''}; the others of it are not judged` }]
      : []),
  ];
}

function unmatchedScope({ text, policies, isNamed }: Scope): SourceProblem {
  return {
    code: 'EVICTD_POLICY_SCOPE',
    message: `${isNamed ? `a condition names the cgroup ${text}, which does not exist` : `no cgroup matches the scope ${text}`} (policy ${policies.join(', ')}), now`,
    hint: 'systemd-cgls shows the cgroups; the path begins below the cgroup root',
  };
}
