import * as hooks from '../features/hooks/open.js';
import type { Config } from '../config/config.js';
import type { BeforeSignal } from '../monitor/ports/before-signal.js';
import type { StepListener } from '../monitor/ports/ports.js';
import type { Locked } from './phases/lock.js';
import type { Published } from './phases/publish.js';

/** The hooks of evictions. Their code is loaded with the first configuration that has one. */
export class EvictionHooks implements BeforeSignal, StepListener {
  readonly #open: (config: Config) => hooks.Hooks | undefined;
  #opened: hooks.Hooks | undefined;

  constructor({ inForce, node, options: { dryRun }, log }: Locked, { journal, status }: Published) {
    const parts = { node: node.identity.name, dryRun, log, journal, metrics: status };
    this.#open = (config) => hooks.openHooks(config, parts);
    this.configure(inForce.config);
  }

  configure(config: Config): void {
    if (this.#opened) this.#opened.configure(config);
    else if (Object.values(config.hooks).some((hook) => hook !== undefined)) this.#opened = this.#open(config);
  }

  before(...args: Parameters<BeforeSignal['before']>): boolean {
    return this.#opened?.before(...args) ?? false;
  }

  stepped(...args: Parameters<StepListener['stepped']>): void {
    this.#opened?.stepped(...args);
  }

  skipped(): boolean {
    return true;
  }

  close(): void {
    this.#opened?.close();
  }
}
