import manifest from '../../package.json' with { type: 'json' };
import type { LoadedConfig } from '../config/config.js';
import { initialState, type State } from '../core/state.js';
import { isWindowsSource } from '../core/workload-source.js';
import type { Log } from '../log.js';
import type { NodeIdentity } from '../monitor/ports.js';
import { SharedFileError } from '../monitor/recording/file.js';
import { Recorder } from '../monitor/recording/recorder.js';
import type { RecordingLimits } from '../monitor/recording/place.js';
import type { RecordedConfig } from '../monitor/recording/format.js';

/** What the operator wants recorded. */
export interface RecordingPlan {
  readonly path: string;
  readonly limits: RecordingLimits;
  /** How often workloads are read for the recording alone; 0: never. */
  readonly sampleEveryNs: bigint;
}

/** Opens nothing yet: a file that cannot be written is said, tried again, and does not keep evictd from guarding. */
export function createRecorder(
  plan: RecordingPlan,
  loaded: LoadedConfig,
  node: NodeIdentity,
  dryRun: boolean,
  initial: State,
  log: Log,
): Recorder {
  return new Recorder({
    ...plan,
    version: manifest.version,
    node,
    dryRun,
    ...(initial === initialState ? {} : { initial }),
    config: recordedConfig(loaded),
    onError: (error) => {
      const isShared = error instanceof SharedFileError;
      const goesOn = isShared
        ? 'the last second of it is lost, and the file is begun anew'
        : 'it is kept in memory, as far as it fits, and tried again';
      log.warn(`the recording cannot be written: ${error.message}; ${goesOn}`, { code: 'EVICTD_RECORDING_WRITE' });
    },
    onLost: () => {
      log.error(`steps are missing in the recording: too many are waiting for ${plan.path}`, { code: 'EVICTD_RECORDING_LOST' });
    },
  });
}

export function recordedConfig({ config, origins, written }: LoadedConfig): RecordedConfig {
  const systemd = config.workloads.flatMap((source) => ('systemd' in source ? source.systemd : []));
  const cri = config.workloads.flatMap((source) => ('cri' in source ? source.cri : []));
  const windows = config.workloads.filter(isWindowsSource);
  return {
    settings: Object.fromEntries([...origins].map(([key, { value }]) => [key, value])),
    sources: config.workloads.flatMap((source) => ('cgroup' in source ? source.cgroup : [])),
    ...(systemd.length > 0 && { systemd }),
    ...(cri.length > 0 && { cri }),
    ...(windows.length > 0 && { windows }),
    rules: config.rules,
    written: { files: written.files, flags: { ...written.flags }, ...(written.platform && { platform: written.platform }) },
  };
}
