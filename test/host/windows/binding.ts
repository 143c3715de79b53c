import type { FilesystemReading, MemoryNotification, PerformanceInfo, WindowsBinding } from '../../../src/native/windows-binding.js';
import type { OnWake } from '../../../src/native/watch.js';

/**
 * The contract, played: there is no kernel of Windows where these tests run. What the addon itself does is proved by
 * native/test and, under Wine, by test/windows; here only what is made of its answers.
 */
export class PlayedBinding {
  /** What GetPerformanceInfo answers with, or throws. */
  info: PerformanceInfo | Error = performanceInfo({});
  readonly disks = new Map<string, Partial<FilesystemReading>>();
  /** Answers that are awaited, in the order of the requests. */
  readonly requested: { readonly path: string; readonly answer: () => void }[] = [];
  readonly notifications: { readonly kind: string; live: boolean; readonly fire: () => void }[] = [];
  notificationFailure: Error | undefined;
  /** FilesystemStats that are not closed, and all that there were. */
  open = 0;
  opened = 0;

  readonly binding: Pick<WindowsBinding, 'WAKE' | 'performanceInfo' | 'FilesystemStats' | 'MemoryNotification'>;

  constructor() {
    // oxlint-disable-next-line typescript/no-this-alias -- the constructors of the contract are classes of their own
    const played = this;
    this.binding = {
      WAKE: { FIRED: 1, GONE: 2 },
      performanceInfo: () => {
        if (this.info instanceof Error) throw this.info;
        return this.info;
      },
      FilesystemStats: class {
        readonly path: string;
        #pending = false;
        constructor(path: string) {
          this.path = path;
          played.open += 1;
          played.opened += 1;
        }
        read(): FilesystemReading {
          return { ...UNREAD, ...played.disks.get(this.path) };
        }
        request(onDone?: () => void): boolean {
          if (this.#pending) return false;
          this.#pending = true;
          const answer = (): void => {
            this.#pending = false;
            onDone?.();
          };
          played.requested.push({ path: this.path, answer });
          return true;
        }
        close(): void {
          played.open -= 1;
        }
      },
      MemoryNotification: class implements MemoryNotification {
        live = true;
        constructor(kind: 'low' | 'high', onWake: OnWake) {
          if (played.notificationFailure) throw played.notificationFailure;
          const fire = (): void => {
            onWake(1, 5n, 0);
          };
          played.notifications.push(Object.assign(this, { kind, fire }));
        }
        isSet(): boolean {
          return false;
        }
        status() {
          return { mechanism: 'memory_notification', target: 'low', live: this.live, errno: 0 };
        }
        close(): void {
          this.live = false;
        }
      },
    };
  }

  /** As the addon throws. */
  static refusal(code: string, errno: number, syscall: string): Error {
    return Object.assign(new Error(`${syscall}: ${code}`), { code, errno: -errno, syscall });
  }
}

const UNREAD: FilesystemReading = {
  totalBytes: 0n,
  freeBytes: 0n,
  availableBytes: 0n,
  errno: 0,
  atNs: 0n,
  pending: false,
  pendingSinceNs: 0n,
};

/** 8 GiB of memory and as much in page files, half of it used, where the test says nothing else. */
export function performanceInfo(given: Partial<PerformanceInfo>): PerformanceInfo {
  const gib = 262_144n;
  return {
    commitTotal: 8n * gib,
    commitLimit: 16n * gib,
    physicalTotal: 8n * gib,
    physicalAvailable: 4n * gib,
    pageSize: 4096n,
    ...given,
  };
}
