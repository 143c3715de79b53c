import type { Config } from '../config/config.js';
import { UnavailableError } from '../errors.js';
import { selectHost } from '../host/select.js';
import type { ContainerRuntime } from '../monitor/ports/ports.js';
import { cgroupsOf } from '../workloads/kinds/source-spec.js';

type Named = Pick<Config, 'workloads'>;

/** The container runtimes of the configuration, with one connection to each. */
export class ContainerRuntimes {
  readonly #open = new Map<string, ContainerRuntime>();
  /** Asked for at every tick. */
  #endpoints: { readonly of: Named['workloads']; readonly list: readonly string[] } | undefined;

  of({ workloads }: Named): readonly ContainerRuntime[] {
    if (this.#endpoints?.of !== workloads) this.#endpoints = { of: workloads, list: cgroupsOf(workloads).endpoints };
    return this.#endpoints.list.map((endpoint) => {
      const runtime = this.#open.get(endpoint) ?? openRuntime(endpoint);
      this.#open.set(endpoint, runtime);
      return runtime;
    });
  }

  /** A runtime that is open already. */
  get(endpoint: string): ContainerRuntime | undefined {
    return this.#open.get(endpoint);
  }

  /** The runtimes after all of them have answered or timed out, for a single reading. */
  async reported(named: Named): Promise<readonly ContainerRuntime[]> {
    const runtimes = this.of(named);
    await Promise.all(runtimes.map((runtime) => runtime.reported()));
    return runtimes;
  }

  keepOnly({ workloads }: Named): void {
    const { endpoints } = cgroupsOf(workloads);
    for (const [endpoint, runtime] of this.#open) {
      if (endpoints.includes(endpoint)) continue;
      runtime.close();
      this.#open.delete(endpoint);
    }
  }

  close(): void {
    for (const runtime of this.#open.values()) runtime.close();
    this.#open.clear();
  }
}

function openRuntime(endpoint: string): ContainerRuntime {
  const { openContainerRuntime } = selectHost();
  if (openContainerRuntime) return openContainerRuntime(endpoint);
  throw new UnavailableError('EVICTD_HOST_LACKS', `this system has no container runtimes (${endpoint})`, {
    hint: 'configure other workloads: job, service or process',
  });
}
