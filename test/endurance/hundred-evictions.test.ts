import { closeSync, openSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasSystemd } from '../support/systemd.js';
import { SLOWNESS } from '../support/slowness.js';
import { Evictd, victimOf, type JournalLine } from '../e2e/evictd.js';
import { ON } from '../e2e/node.js';
import { holding, kernelKills, Scene } from '../systemd/scene.js';

const EVICTIONS = 100;
/** Evictions of one kind before the other kind. */
const IN_A_ROW = 5;

/** A kind of unit and of its eviction. */
interface Mode {
  readonly name: string;
  readonly kind: 'hard' | 'soft';
  readonly settings: Readonly<Record<string, string>>;
  readonly ignoresTerm?: true;
}

const modes: readonly Mode[] = [
  { name: 'hard', kind: 'hard', settings: {} },
  { name: 'delegated', kind: 'hard', settings: { Delegate: 'yes' } },
  { name: 'comes-back', kind: 'hard', settings: { Restart: 'on-failure', RestartSec: '1h' } },
  { name: 'soft', kind: 'soft', settings: {} },
  { name: 'deaf', kind: 'soft', settings: { TimeoutStopSec: '10min' }, ignoresTerm: true },
];

describe.runIf(hasSystemd)(`evictions in a row (${ON}; needs systemd)`, () => {
  test(
    `end only the unit that has grown, ${String(EVICTIONS)} times over all modes`,
    async () => {
      const scene = new Scene(512);
      const victimsOf = { hard: [] as string[], soft: [] as string[] };
      for (const { name, kind, settings, ignoresTerm } of modes) {
        const command = holding(kind === 'hard' ? 240 : 120);
        victimsOf[kind].push(scene.service(`${name}@`, ignoresTerm ? command.replace("-c '", `-c 'trap "" TERM; `) : command, settings));
      }
      const innocents = await scene.holders({
        db: { mib: 100 },
        web: { mib: 60, settings: { MemoryLow: '100M' } },
        cache: { mib: 40 },
      });
      const rules = [{ match: { name: 'evictd-test-db.service' }, critical: true }];
      const config = {
        evictionHard: { 'memory.available': '128Mi' },
        monitoringInterval: '200ms',
        evictionBudget: { max: EVICTIONS },
        node: { cgroup: `/${scene.slice}` },
        workloads: [{ systemd: { slices: [scene.slice] } }],
        rules,
      };
      const softly = {
        ...config,
        evictionSoft: { 'memory.available': '224Mi' },
        evictionSoftGracePeriod: { 'memory.available': '300ms' },
        evictionMaxPodGracePeriod: 2 * SLOWNESS,
      };
      const evictd = await new Evictd({ config }).guarding();
      const kills = kernelKills();
      await evictd.recorded('start');
      const outcomes = new Outcomes(evictd);

      const expected: [kind: string, name: string][] = [];
      for (let round = 0; round < EVICTIONS; round++) {
        const kind = Math.floor(round / IN_A_ROW) % 2 === 0 ? 'hard' : 'soft';
        if (round > 0 && round % IN_A_ROW === 0) await evictd.reloaded(kind === 'hard' ? config : softly);
        const template = victimsOf[kind][round % victimsOf[kind].length] ?? '';
        const name = template.replace('@', `@${String(round)}`);
        // Memory of the last victim still counts for a moment after its end.
        await evictd.until('the node has its memory back', () => scene.usedBytes() < 230 * 1024 * 1024);
        scene.start(name);
        const outcome = await outcomes.of(name);
        expect(outcome).toMatchObject({ result: 'killed', victim: { name } });
        expected.push([kind, name]);
      }

      const decisions = evictd.journal().filter(({ type }) => type === 'decision');
      expect(decisions.map((line) => [line.kind, victimOf(line)])).toEqual(expected);
      expect(innocents.filter((unit) => !unit.untouched()).map(({ name }) => name)).toEqual([]);
      expect(kernelKills()).toBe(kills);
      const ways = decisions.map(({ kind, action }) => `${String(kind)} ${String(action)}`);
      expect(ways.filter((way) => way === 'hard SIGKILL')).toHaveLength(EVICTIONS / 2);
      expect(ways).toContain('soft systemd stop');
      const escalated = evictd.journal().filter(({ type }) => type === 'escalation');
      expect(escalated.map(victimOf)).toEqual(expected.flatMap(([, name]) => (name.includes('deaf') ? [name] : [])));
    },
    600_000 * SLOWNESS,
  );
});

/** Reads only new records: reading the whole journal each time would take processor time from evictd. */
class Outcomes {
  readonly #evictd: Evictd;
  readonly #fd: number;
  #rest = '';
  readonly #seen = new Map<string | undefined, JournalLine>();

  constructor(evictd: Evictd) {
    this.#evictd = evictd;
    this.#fd = openSync(evictd.journalFile, 'r');
    onTestFinished(() => {
      closeSync(this.#fd);
    });
  }

  async of(name: string): Promise<JournalLine> {
    await this.#evictd.until(`${name} is evicted`, () => {
      this.#read();
      return this.#seen.has(name);
    });
    const outcome = this.#seen.get(name);
    if (outcome === undefined) throw new Error('no longer there');
    return outcome;
  }

  #read(): void {
    const lines = (this.#rest + readFileSync(this.#fd, 'utf8').replaceAll('\0', '')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines.filter((text) => text.includes('"outcome"')).map((text) => JSON.parse(text) as JournalLine)) {
      if (line.type === 'outcome') this.#seen.set(victimOf(line), line);
    }
  }
}
