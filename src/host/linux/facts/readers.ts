import { readCgroup } from './cgroup-reader.js';
import { readClock, readKernel, readKernelLog } from './kernel-reader.js';
import { findDaemons, hiddenProcesses, readDaemon } from './daemon-reader.js';
import { readDirectory } from './directory-reader.js';
import { readInstance, readService } from './service-reader.js';
import { readMemory, readPressure } from './memory-reader.js';
import { readSubject } from './process-reader.js';
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
