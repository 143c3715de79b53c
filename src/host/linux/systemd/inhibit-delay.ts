import type { InhibitDelay, KnownDelay } from '../../../core/systemd/inhibit-delay.js';
import { BusConnection, type BusCall, type BusReply } from './bus-connection.js';
import { inhibitDelayFile } from './logind-files.js';
import { HAS_LOGIN, LoginManager, managerProperty, SYSTEM_BUS } from './login-manager.js';
import { NS_PER_US, NS_PER_MS } from '../../../core/quantity/duration.js';

const ANSWER_WITHIN_NS = 10_000_000_000n;
/** Longer than a boot takes. */
const COMES_WITHIN_NS = 600_000_000_000n;

interface InhibitDelayQuestion {
  readonly path?: string;
  readonly withinNs?: bigint;
  /** false: does not keep the process alive. */
  readonly awaited?: boolean;
  /** The file that sets it. */
  readonly fileOf?: () => string | undefined;
}

/** Asks logind once. It must run already: the bus would start it for a call. */
export function readInhibitDelay({
  path = SYSTEM_BUS,
  withinNs = ANSWER_WITHIN_NS,
  awaited = true,
  fileOf = inhibitDelayFile,
}: InhibitDelayQuestion = {}): Promise<InhibitDelay> {
  return new Promise((resolve) => {
    const end = (answer: InhibitDelay): void => {
      clearTimeout(timer);
      connection.close();
      resolve(answer);
    };
    const unknown = (reason: string): void => {
      end({ kind: 'unknown', reason });
    };
    const ask = (call: BusCall, then: (body: readonly unknown[]) => void): void => {
      connection.call(call, (reply: BusReply) => {
        if (reply.ok) then(reply.body);
        else unknown(`cannot ask logind: ${reply.message}`);
      });
    };
    const timer = setTimeout(
      () => {
        unknown('no answer from logind');
      },
      Number(withinNs / NS_PER_MS),
    );
    if (!awaited) timer.unref();
    const connection = new BusConnection({ path, daemon: true, rules: [] }, [], {
      up: () => {
        ask(HAS_LOGIN, ([isThere]) => {
          if (isThere !== true) unknown('logind does not run: nothing makes a shutdown wait');
          else
            ask(GET, ([us]) => {
              const setIn = fileOf();
              if (typeof us === 'bigint') end({ kind: 'known', maxNs: us * NS_PER_US, ...(setIn !== undefined && { setIn }) });
              else unknown('logind does not report the delay');
            });
        });
      },
      down: (reason) => {
        unknown(`cannot ask logind: ${reason}`);
      },
      signal: () => undefined,
    });
  });
}

/**
 * The delay once logind runs, which at a boot may start later than evictd; undefined: it did not start in time. Does
 * not keep the process alive.
 */
export function awaitInhibitDelay(path = SYSTEM_BUS, withinNs = COMES_WITHIN_NS): Promise<KnownDelay | undefined> {
  return new Promise((resolve) => {
    const end = (delay: KnownDelay | undefined): void => {
      clearTimeout(timer);
      login.close();
      resolve(delay);
    };
    const timer = setTimeout(
      () => {
        end(undefined);
      },
      Number(withinNs / NS_PER_MS),
    );
    timer.unref();
    const login = new LoginManager(path, {
      seen: () => {
        void readInhibitDelay({ path, awaited: false }).then((delay) => {
          if (delay.kind === 'known') end(delay);
        });
      },
      unavailable: () => undefined,
      refused: () => undefined,
    });
  });
}

const GET = managerProperty('InhibitDelayMaxUSec');
