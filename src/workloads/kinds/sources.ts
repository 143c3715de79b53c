import { cgroupSource } from './cgroup-source.js';
import { criSource } from './cri-source.js';
import { jobSource } from './job-source.js';
import { kubernetesSource } from './kubernetes-source.js';
import { processSource } from './process-source.js';
import { serviceSource } from './service-source.js';
import { systemdSource } from './systemd-source.js';

/** All kinds of workload sources. Messages that name two keys of an entry follow this order. */
export const SOURCES = [cgroupSource, systemdSource, criSource, kubernetesSource, jobSource, serviceSource, processSource] as const;
