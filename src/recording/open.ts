import manifest from '../../package.json' with { type: 'json' };
import type { LoadedConfig } from '../config/config.js';
import { initialState, type State } from '../core/decide/state.js';
import type { Log } from '../log/log.js';
import type { NodeIdentity } from '../monitor/ports/ports.js';
import { SharedFileError, type RecordingLimits } from './recording-file.js';
import { Recorder } from './recorder.js';
import type { RecordedConfig } from './recording-format.js';

/** The place and the way of a recording. */
export interface RecordingPlan {
  readonly path: string;
  readonly limits: RecordingLimits;
  /** How often workloads are read only for the recording; 0: never. */
  readonly sampleEveryNs: bigint;
}

/** Opens nothing yet. If the file cannot be written, evictd warns, tries again, and runs all the same. */
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
      const consequence = isShared
        ? 'its last second is lost, and the file begins again'
        : 'evictd keeps the steps in memory as far as they fit, and tries again';
      log.warn(`cannot write the recording: ${error.message}; ${consequence}`, { code: 'EVICTD_RECORDING_WRITE' });
    },
    onLost: () => {
      log.error(`the recording lacks steps: too many wait for ${plan.path}`, { code: 'EVICTD_RECORDING_LOST' });
    },
  });
}

export function recordedConfig({ config, origins, written }: LoadedConfig): RecordedConfig {
  return {
    settings: Object.fromEntries([...origins].map(([key, { value }]) => [key, value])),
    workloads: config.workloads,
    rules: config.rules,
    written: { files: written.files, flags: { ...written.flags }, ...(written.platform && { platform: written.platform }) },
  };
}
