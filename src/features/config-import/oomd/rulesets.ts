import type { Report } from '../../../config/value/report.js';
import type { SourcePosition } from '../../../errors.js';
import type { JsonMember, JsonNode } from '../commented-json.js';

/** A detector, an action or a prekill hook: `{"name": …, "args": {…}}`. */
export interface Plugin {
  readonly name: string;
  readonly position: SourcePosition;
  readonly args: ReadonlyMap<string, Argument>;
  /** Keys beside `name` and `args`. */
  readonly others: readonly JsonMember[];
}

export interface Argument {
  readonly text: string;
  readonly position: SourcePosition;
}

/** Detectors that must all be met. */
export interface DetectorGroup {
  readonly name: string;
  readonly position: SourcePosition;
  readonly detectors: readonly Plugin[];
}

export interface Ruleset {
  readonly name: string;
  readonly position: SourcePosition;
  readonly groups: readonly DetectorGroup[];
  readonly actions: readonly Plugin[];
  /** Keys beside `name`, `detectors` and `actions`. */
  readonly others: readonly JsonMember[];
}

export interface OomdConfig {
  readonly rulesets: readonly Ruleset[];
  readonly hooks: readonly Plugin[];
  /** Keys of the document beside `rulesets` and `prekill_hooks`. */
  readonly others: readonly JsonMember[];
}

/** The document as oomd's rulesets. What has another form is an issue. */
export function readRulesets(root: JsonNode, report: Report): OomdConfig {
  const reader = new Reader(report);
  const members = reader.members(root, 'an object with "rulesets"');
  if (root.kind === 'map' && !members.some(({ key }) => key === 'rulesets')) {
    report.issue('EVICTD_IMPORT_SYNTAX', 'no key "rulesets"', root.position, 'name the file that oomd is started with (--config)');
  }
  return {
    rulesets: reader.itemsOf(members, 'rulesets').map((each) => reader.ruleset(each)),
    hooks: reader.itemsOf(members, 'prekill_hooks').map((each) => reader.plugin(each)),
    others: members.filter(({ key }) => key !== 'rulesets' && key !== 'prekill_hooks'),
  };
}

class Reader {
  constructor(private readonly report: Report) {}

  members(node: JsonNode, what: string): readonly JsonMember[] {
    return node.kind === 'map' ? node.members : this.#refuse(node.position, what);
  }

  itemsOf(members: readonly JsonMember[], key: string): readonly JsonNode[] {
    const value = members.find((member) => member.key === key)?.value;
    if (value === undefined) return [];
    return value.kind === 'list' ? value.items : this.#refuse(value.position, `a list of "${key}"`);
  }

  ruleset(node: JsonNode): Ruleset {
    const members = this.members(node, 'a ruleset: an object');
    return {
      name: this.#textOf(members, 'name') ?? 'ruleset',
      position: node.position,
      groups: this.itemsOf(members, 'detectors').map((group) => this.#group(group)),
      actions: this.itemsOf(members, 'actions').map((action) => this.plugin(action)),
      others: members.filter(({ key }) => !['name', 'detectors', 'actions'].includes(key)),
    };
  }

  plugin(node: JsonNode): Plugin {
    const members = this.members(node, 'a plugin: an object with "name" and "args"');
    const args = members.find(({ key }) => key === 'args')?.value;
    const name = this.#textOf(members, 'name');
    if (name === undefined && node.kind === 'map') this.#refuse(node.position, 'a plugin with "name"');
    return {
      name: name ?? '',
      position: node.position,
      args: new Map(
        args === undefined ? [] : this.members(args, '"args": an object').map((member) => [member.key, this.#argument(member)]),
      ),
      others: members.filter(({ key }) => key !== 'name' && key !== 'args'),
    };
  }

  /** `["name of the group", {detector}, …]` */
  #group(node: JsonNode): DetectorGroup {
    const items =
      node.kind === 'list' ? node.items : this.#refuse(node.position, 'a group of detectors: a list of its name and its detectors');
    const [first] = items;
    const isNamed = first?.kind === 'scalar';
    return {
      name: isNamed ? first.text : '',
      position: node.position,
      detectors: items.slice(isNamed ? 1 : 0).map((detector) => this.plugin(detector)),
    };
  }

  #argument({ value, position }: JsonMember): Argument {
    if (value.kind === 'scalar') return { text: value.text, position: value.position };
    this.#refuse(value.position, 'an argument: a text, a number, true or false');
    return { text: '', position };
  }

  #textOf(members: readonly JsonMember[], key: string): string | undefined {
    const value = members.find((member) => member.key === key)?.value;
    if (value === undefined) return undefined;
    if (value.kind === 'scalar') return value.text;
    this.#refuse(value.position, `"${key}": a text`);
    return undefined;
  }

  #refuse(position: SourcePosition, what: string): [] {
    this.report.issue(
      'EVICTD_IMPORT_VALUE',
      `expected ${what}`,
      position,
      'oomd does not accept this file either: docs/configuration.md of oomd',
    );
    return [];
  }
}
