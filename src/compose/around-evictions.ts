import * as hooks from '../features/hooks/open.js';
import * as notify from '../features/notify/open.js';
import type { Config } from '../config/config.js';
import { configuredHooks } from '../core/hook/hook.js';
import { configuredKinds } from '../core/notify/notification.js';
import type { BeforeSignal } from '../monitor/ports/before-signal.js';
import type { StepListener } from '../monitor/ports/ports.js';
import { native } from '../native/index.js';
import type { Locked } from './phases/lock.js';
import type { Published } from './phases/publish.js';

/** Hooks and notifications of evictions. The code of each is loaded with the first configuration that has one. */
export class AroundEvictions implements BeforeSignal, StepListener {
  readonly #openHooks: (config: Config) => hooks.Hooks | undefined;
  readonly #openNotifications: (config: Config) => notify.Notifications;
  #hooks: hooks.Hooks | undefined;
  #notifications: notify.Notifications | undefined;

  constructor({ inForce, node, hierarchies, options: { dryRun }, log }: Locked, { journal, status }: Published) {
    const parts = { node: node.identity.name, dryRun, log, journal, metrics: status, hierarchies, native };
    this.#openHooks = (config) => hooks.openHooks(config, parts);
    this.#openNotifications = (config) => new notify.Notifications(config, parts);
    this.configure(inForce.config);
  }

  configure(config: Config): void {
    if (this.#hooks) this.#hooks.configure(config);
    else if (configuredHooks(config).length > 0) this.#hooks = this.#openHooks(config);
    if (this.#notifications) this.#notifications.configure(config);
    else if (configuredKinds(config.notifications).length > 0) this.#notifications = this.#openNotifications(config);
  }

  before(...args: Parameters<BeforeSignal['before']>): boolean {
    this.#notifications?.before(args[0]);
    return this.#hooks?.before(...args) ?? false;
  }

  stepped(...args: Parameters<StepListener['stepped']>): void {
    this.#notifications?.stepped(...args);
    this.#hooks?.stepped(...args);
  }

  skipped(): boolean {
    return true;
  }

  close(): void {
    this.#notifications?.close();
    this.#hooks?.close();
  }
}
