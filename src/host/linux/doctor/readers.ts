import { readCgroup } from './cgroup.js';
import { readClock } from './clock.js';
import { findDaemons, hiddenProcesses, readDaemon } from './daemons.js';
import { readDirectory } from './directory.js';
import { readInstance } from './instance.js';
import { readKernel } from './kernel.js';
import { readKernelLog } from './kernel-log.js';
import { readMemory } from './memory.js';
import { readPressure } from './pressure.js';
import { readService } from './service.js';
import { readSubject } from './subject.js';
import { textIfAny } from './text-file.js';

/** The readers of `doctor` on Linux. They change nothing. */
export const doctorReaders = {
  readCgroup,
  readClock,
  findDaemons,
  hiddenProcesses,
  readDaemon,
  readDirectory,
  readInstance,
  readKernel,
  readKernelFile: textIfAny,
  readKernelLog,
  readMemory,
  readPressure,
  readService,
  readSubject,
};

export type DoctorReaders = typeof doctorReaders;
