import type { DaemonFacts, DaemonsFacts } from '../../doctor/facts/daemon.js';
import { isUnseen } from '../../doctor/facts/unseen.js';
import type { DoctorReaders } from '../../host/select.js';
import type { Patience } from './deadline.js';
import { kubeletMemory } from './kubelet.js';

const PATIENCE_MS = 1_800;

export async function examineDaemons(doctor: DoctorReaders, patience: Patience): Promise<DaemonsFacts> {
  const found = doctor.findDaemons().map(async (seen): Promise<DaemonFacts> => {
    const silent = { unseen: 'it was not answered in time' };
    const daemon = (await patience.within(PATIENCE_MS, (signal) => doctor.readDaemon(seen, signal))) ?? {
      ...seen,
      arguments: silent,
      settings: silent,
    };
    const { name, pid, arguments: args } = daemon;
    const isKubelet = name === 'kubelet' && !isUnseen(args);
    return {
      ...daemon,
      memory: isKubelet ? await patience.within(PATIENCE_MS, () => kubeletMemory(`/proc/${String(pid)}/root`, args)) : undefined,
    };
  });
  return { found: await Promise.all(found), hidden: doctor.hiddenProcesses() };
}
