# HELP evictd_signal_available_bytes Available bytes.
# TYPE evictd_signal_available_bytes gauge
evictd_signal_available_bytes{eviction_signal="memory.available"} 23737835520
evictd_signal_available_bytes{eviction_signal="nodefs.available"} 68194877440

# HELP evictd_signal_available_inodes Available inodes.
# TYPE evictd_signal_available_inodes gauge
evictd_signal_available_inodes{eviction_signal="nodefs.inodesFree"} 15981937

# HELP evictd_signal_available_processes Available processes.
# TYPE evictd_signal_available_processes gauge
evictd_signal_available_processes{eviction_signal="pid.available"} 32579

# HELP evictd_signal_capacity_bytes Capacity in bytes.
# TYPE evictd_signal_capacity_bytes gauge
evictd_signal_capacity_bytes{eviction_signal="memory.available"} 25276514304
evictd_signal_capacity_bytes{eviction_signal="nodefs.available"} 270553174016

# HELP evictd_signal_capacity_inodes Capacity in inodes.
# TYPE evictd_signal_capacity_inodes gauge
evictd_signal_capacity_inodes{eviction_signal="nodefs.inodesFree"} 16777216

# HELP evictd_signal_capacity_processes Capacity in processes.
# TYPE evictd_signal_capacity_processes gauge
evictd_signal_capacity_processes{eviction_signal="pid.available"} 32768

# HELP evictd_signal_threshold_bytes The threshold is met when fewer bytes are available.
# TYPE evictd_signal_threshold_bytes gauge
evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"} 104857600
evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="soft"} 209715200
evictd_signal_threshold_bytes{eviction_signal="nodefs.available",kind="hard"} 27055317804

# HELP evictd_signal_threshold_inodes The threshold is met when fewer inodes are available.
# TYPE evictd_signal_threshold_inodes gauge
evictd_signal_threshold_inodes{eviction_signal="nodefs.inodesFree",kind="hard"} 838860

# HELP evictd_signal_threshold_processes The threshold is met when fewer processes are available.
# TYPE evictd_signal_threshold_processes gauge

# HELP evictd_signal_pressure_ratio Share of wall time in which tasks waited, 0 to 1.
# TYPE evictd_signal_pressure_ratio gauge

# HELP evictd_threshold_met 1 while all operands of an entry of thresholds are met, else 0.
# TYPE evictd_threshold_met gauge
evictd_threshold_met{when="memory.pressure.full>30% & memory.available<10%",kind="soft"} 0

# HELP evictd_pressure_memory_waiting_seconds_total Time in which some task waited for memory.
# TYPE evictd_pressure_memory_waiting_seconds_total counter
evictd_pressure_memory_waiting_seconds_total 26.302483

# HELP evictd_pressure_memory_stalled_seconds_total Time in which all non-idle tasks waited for memory.
# TYPE evictd_pressure_memory_stalled_seconds_total counter
evictd_pressure_memory_stalled_seconds_total 2.163502

# HELP evictd_pressure_io_waiting_seconds_total Time in which some task waited for io.
# TYPE evictd_pressure_io_waiting_seconds_total counter
evictd_pressure_io_waiting_seconds_total 1047.425035

# HELP evictd_pressure_io_stalled_seconds_total Time in which all non-idle tasks waited for io.
# TYPE evictd_pressure_io_stalled_seconds_total counter
evictd_pressure_io_stalled_seconds_total 483.536959

# HELP evictd_pressure_cpu_waiting_seconds_total Time in which some task waited for cpu.
# TYPE evictd_pressure_cpu_waiting_seconds_total counter
evictd_pressure_cpu_waiting_seconds_total 35207.88673

# HELP evictd_pressure_cpu_stalled_seconds_total Time in which all non-idle tasks waited for cpu.
# TYPE evictd_pressure_cpu_stalled_seconds_total counter
evictd_pressure_cpu_stalled_seconds_total 0

# HELP evictd_notifier_live 1 while every notifier of this mechanism is armed, 0 while another mechanism or polling replaces one.
# TYPE evictd_notifier_live gauge
evictd_notifier_live{mechanism="memcg_threshold"} 1
evictd_notifier_live{mechanism="sampler"} 1
evictd_notifier_live{mechanism="psi_trigger"} 1

# HELP evictd_node_condition 1 while the node has the condition, else 0.
# TYPE evictd_node_condition gauge
evictd_node_condition{condition="MemoryPressure"} 0
evictd_node_condition{condition="DiskPressure"} 0

# HELP evictd_signal_polled 1 while no notifier watches this signal, so that evictd only polls it.
# TYPE evictd_signal_polled gauge
evictd_signal_polled{eviction_signal="memory.available"} 0
evictd_signal_polled{eviction_signal="memory.pressure.full"} 0
evictd_signal_polled{eviction_signal="nodefs.available"} 0
evictd_signal_polled{eviction_signal="nodefs.inodesFree"} 0

# HELP evictd_sampler_period_seconds Time between two samples of the native sampler; shorter the nearer the signal is to its threshold.
# TYPE evictd_sampler_period_seconds gauge
evictd_sampler_period_seconds{eviction_signal="memory.available"} 1.682842251
evictd_sampler_period_seconds{eviction_signal="nodefs.available"} 10
evictd_sampler_period_seconds{eviction_signal="nodefs.inodesFree"} 10

# HELP evictd_memory_node_available_bytes What processes that are bound to this memory node (NUMA) can get; only on a machine with several.
# TYPE evictd_memory_node_available_bytes gauge

# HELP evictd_memory_node_capacity_bytes Memory of this memory node.
# TYPE evictd_memory_node_capacity_bytes gauge

# HELP evictd_sample_age_seconds Time since the last sample of the node, at the time of the scrape.
# TYPE evictd_sample_age_seconds gauge
evictd_sample_age_seconds 9.39695729

# HELP evictd_evictions_total Evictions that left no process of the workload, by the signal of the threshold.
# TYPE evictd_evictions_total counter
evictd_evictions_total{eviction_signal="memory.available"} 0
evictd_evictions_total{eviction_signal="nodefs.available"} 0
evictd_evictions_total{eviction_signal="nodefs.inodesFree"} 0
evictd_evictions_total{eviction_signal="memory.pressure.full"} 0

# HELP evictd_evictions_failed_total Evictions that failed or left processes; not in evictd_evictions_total.
# TYPE evictd_evictions_failed_total counter
evictd_evictions_failed_total{eviction_signal="memory.available"} 0
evictd_evictions_failed_total{eviction_signal="nodefs.available"} 0
evictd_evictions_failed_total{eviction_signal="nodefs.inodesFree"} 0
evictd_evictions_failed_total{eviction_signal="memory.pressure.full"} 0

# HELP evictd_evictions_ineffective_total Evictions that freed less than a tenth of the expected memory; also in evictd_evictions_total.
# TYPE evictd_evictions_ineffective_total counter
evictd_evictions_ineffective_total{eviction_signal="memory.available"} 0
evictd_evictions_ineffective_total{eviction_signal="nodefs.available"} 0
evictd_evictions_ineffective_total{eviction_signal="nodefs.inodesFree"} 0
evictd_evictions_ineffective_total{eviction_signal="memory.pressure.full"} 0

# HELP evictd_disruption_budget_violations_total Evictions for node pressure that a disruption budget did not permit, and that did not ask it.
# TYPE evictd_disruption_budget_violations_total counter

# HELP evictd_disruption_budget_disruptions_allowed Workloads that may be evicted now.
# TYPE evictd_disruption_budget_disruptions_allowed gauge

# HELP evictd_disruption_budget_current_healthy Workloads that are healthy.
# TYPE evictd_disruption_budget_current_healthy gauge

# HELP evictd_disruption_budget_desired_healthy Workloads that must stay healthy.
# TYPE evictd_disruption_budget_desired_healthy gauge

# HELP evictd_disruption_budget_expected_workloads Workloads that the budget counts in all.
# TYPE evictd_disruption_budget_expected_workloads gauge

# HELP evictd_standing_orders_total Standing orders that came due after a crossing, before the main thread had decided, by outcome.
# TYPE evictd_standing_orders_total counter
evictd_standing_orders_total{outcome="carried-out"} 0
evictd_standing_orders_total{outcome="refused"} 0
evictd_standing_orders_total{outcome="outdated"} 0

# HELP evictd_hook_runs_total Hooks of evictions that ran or were to run, by result.
# TYPE evictd_hook_runs_total counter

# HELP evictd_notifications_total Notifications of evictions and alerts, by kind and result.
# TYPE evictd_notifications_total counter

# HELP evictd_alerts_total Evictions that a threshold required and that evictd could not make, or that do not help for long (restart-storm), by reason.
# TYPE evictd_alerts_total counter
evictd_alerts_total{alert="signal-not-evictable",eviction_signal="memory.available"} 0
evictd_alerts_total{alert="signal-not-evictable",eviction_signal="nodefs.available"} 0
evictd_alerts_total{alert="signal-not-evictable",eviction_signal="nodefs.inodesFree"} 0
evictd_alerts_total{alert="signal-not-evictable",eviction_signal="memory.pressure.full"} 0
evictd_alerts_total{alert="no-workload-source",eviction_signal="memory.available"} 0
evictd_alerts_total{alert="no-workload-source",eviction_signal="nodefs.available"} 0
evictd_alerts_total{alert="no-workload-source",eviction_signal="nodefs.inodesFree"} 0
evictd_alerts_total{alert="no-workload-source",eviction_signal="memory.pressure.full"} 0
evictd_alerts_total{alert="nothing-evictable",eviction_signal="memory.available"} 0
evictd_alerts_total{alert="nothing-evictable",eviction_signal="nodefs.available"} 0
evictd_alerts_total{alert="nothing-evictable",eviction_signal="nodefs.inodesFree"} 0
evictd_alerts_total{alert="nothing-evictable",eviction_signal="memory.pressure.full"} 0
evictd_alerts_total{alert="no-yield",eviction_signal="memory.available"} 0
evictd_alerts_total{alert="no-yield",eviction_signal="nodefs.available"} 0
evictd_alerts_total{alert="no-yield",eviction_signal="nodefs.inodesFree"} 0
evictd_alerts_total{alert="no-yield",eviction_signal="memory.pressure.full"} 0
evictd_alerts_total{alert="budget-exhausted",eviction_signal="memory.available"} 0
evictd_alerts_total{alert="budget-exhausted",eviction_signal="nodefs.available"} 0
evictd_alerts_total{alert="budget-exhausted",eviction_signal="nodefs.inodesFree"} 0
evictd_alerts_total{alert="budget-exhausted",eviction_signal="memory.pressure.full"} 0
evictd_alerts_total{alert="leak-elsewhere",eviction_signal="memory.available"} 0
evictd_alerts_total{alert="leak-elsewhere",eviction_signal="nodefs.available"} 0
evictd_alerts_total{alert="leak-elsewhere",eviction_signal="nodefs.inodesFree"} 0
evictd_alerts_total{alert="leak-elsewhere",eviction_signal="memory.pressure.full"} 0
evictd_alerts_total{alert="restart-storm",eviction_signal="memory.available"} 0
evictd_alerts_total{alert="restart-storm",eviction_signal="nodefs.available"} 0
evictd_alerts_total{alert="restart-storm",eviction_signal="nodefs.inodesFree"} 0
evictd_alerts_total{alert="restart-storm",eviction_signal="memory.pressure.full"} 0
evictd_alerts_total{alert="safe-mode",eviction_signal="memory.available"} 0
evictd_alerts_total{alert="safe-mode",eviction_signal="nodefs.available"} 0
evictd_alerts_total{alert="safe-mode",eviction_signal="nodefs.inodesFree"} 0
evictd_alerts_total{alert="safe-mode",eviction_signal="memory.pressure.full"} 0
evictd_alerts_total{alert="paused",eviction_signal="memory.available"} 0
evictd_alerts_total{alert="paused",eviction_signal="nodefs.available"} 0
evictd_alerts_total{alert="paused",eviction_signal="nodefs.inodesFree"} 0
evictd_alerts_total{alert="paused",eviction_signal="memory.pressure.full"} 0

# HELP evictd_reclaims_total Runs of a step of node-level reclaim.
# TYPE evictd_reclaims_total counter

# HELP evictd_reclaims_failed_total Runs of a step of node-level reclaim that failed in part or whole; also in evictd_reclaims_total.
# TYPE evictd_reclaims_failed_total counter

# HELP evictd_reclaimed_bytes_total Bytes that became free on the filesystem while the step ran.
# TYPE evictd_reclaimed_bytes_total counter

# HELP evictd_reclaimed_inodes_total Inodes that became free on the filesystem while the step ran.
# TYPE evictd_reclaimed_inodes_total counter

# HELP evictd_policy_actions_total Actions of policies that have ended, by result; in a dry run those that would have been taken.
# TYPE evictd_policy_actions_total counter

# HELP evictd_oom_kills_total Processes of the node that the kernel's OOM killer killed, by the owner of the limit that was reached.
# TYPE evictd_oom_kills_total counter
evictd_oom_kills_total{limit="node"} 0
evictd_oom_kills_total{limit="workload"} 0
evictd_oom_kills_total{limit="other"} 0
evictd_oom_kills_total{limit="unknown"} 0

# HELP evictd_thresholds_met_total Changes of a threshold from not met to met.
# TYPE evictd_thresholds_met_total counter
evictd_thresholds_met_total{eviction_signal="memory.available",kind="hard"} 0
evictd_thresholds_met_total{eviction_signal="memory.available",kind="soft"} 0
evictd_thresholds_met_total{eviction_signal="nodefs.available",kind="hard"} 0
evictd_thresholds_met_total{eviction_signal="nodefs.inodesFree",kind="hard"} 0
evictd_thresholds_met_total{eviction_signal="memory.pressure.full",kind="soft"} 0

# HELP evictd_wake_to_signal_seconds Time from the sample that met a threshold to the first signal sent to the victim.
# TYPE evictd_wake_to_signal_seconds histogram
evictd_wake_to_signal_seconds_bucket{le="0.00025"} 0
evictd_wake_to_signal_seconds_bucket{le="0.0005"} 0
evictd_wake_to_signal_seconds_bucket{le="0.001"} 0
evictd_wake_to_signal_seconds_bucket{le="0.002"} 0
evictd_wake_to_signal_seconds_bucket{le="0.003"} 0
evictd_wake_to_signal_seconds_bucket{le="0.005"} 0
evictd_wake_to_signal_seconds_bucket{le="0.01"} 0
evictd_wake_to_signal_seconds_bucket{le="0.02"} 0
evictd_wake_to_signal_seconds_bucket{le="0.05"} 0
evictd_wake_to_signal_seconds_bucket{le="0.1"} 0
evictd_wake_to_signal_seconds_bucket{le="0.25"} 0
evictd_wake_to_signal_seconds_bucket{le="0.5"} 0
evictd_wake_to_signal_seconds_bucket{le="1"} 0
evictd_wake_to_signal_seconds_bucket{le="2.5"} 0
evictd_wake_to_signal_seconds_bucket{le="5"} 0
evictd_wake_to_signal_seconds_bucket{le="10"} 0
evictd_wake_to_signal_seconds_bucket{le="+Inf"} 0
evictd_wake_to_signal_seconds_sum 0
evictd_wake_to_signal_seconds_count 0

# HELP evictd_eviction_budget_remaining Evictions that evictionBudget still permits for the resource.
# TYPE evictd_eviction_budget_remaining gauge
evictd_eviction_budget_remaining{resource="memory"} 5
evictd_eviction_budget_remaining{resource="ephemeral-storage"} 5
evictd_eviction_budget_remaining{resource="inodes"} 5

# HELP evictd_units_held systemd units that evictd keeps stopped until the node has recovered.
# TYPE evictd_units_held gauge
evictd_units_held 0

# HELP evictd_graceful_shutdown_start_time_seconds When the last shutdown of the machine began to end workloads, in seconds since 1970; 0: not since evictd started.
# TYPE evictd_graceful_shutdown_start_time_seconds gauge
evictd_graceful_shutdown_start_time_seconds 0

# HELP evictd_graceful_shutdown_end_time_seconds When the last shutdown had ended all workloads or was cancelled, in seconds since 1970; 0: not yet.
# TYPE evictd_graceful_shutdown_end_time_seconds gauge
evictd_graceful_shutdown_end_time_seconds 0

# HELP evictd_workload_evictions_total Evictions of a workload that left no process; the last ten workloads, for an hour.
# TYPE evictd_workload_evictions_total counter

# HELP evictd_workload_last_eviction_timestamp_seconds When the last eviction of a workload was over, in seconds since 1970; the last ten workloads, for an hour.
# TYPE evictd_workload_last_eviction_timestamp_seconds gauge

# HELP evictd_candidate_usage_bytes What the five workloads that would be evicted first used when they were ranked, in bytes; only for a minute after a ranking.
# TYPE evictd_candidate_usage_bytes gauge

# HELP evictd_candidate_usage_inodes What the five workloads that would be evicted first used when they were ranked, in inodes; only for a minute after a ranking.
# TYPE evictd_candidate_usage_inodes gauge

# HELP evictd_candidate_usage_processes What the five workloads that would be evicted first used when they were ranked, in processes; only for a minute after a ranking.
# TYPE evictd_candidate_usage_processes gauge

# HELP evictd_kubernetes_api_answers 1 if the API server has answered the last request for the pods of this node, else 0.
# TYPE evictd_kubernetes_api_answers gauge

# HELP evictd_kubernetes_pods Pods of this node that the API server has reported.
# TYPE evictd_kubernetes_pods gauge

# HELP evictd_kubernetes_pods_age_seconds Time since the API server has confirmed the pods.
# TYPE evictd_kubernetes_pods_age_seconds gauge

# HELP evictd_kubernetes_pending_deletions Evicted pods that are not deleted at the API server yet: the kubelet may start them again.
# TYPE evictd_kubernetes_pending_deletions gauge

# HELP evictd_kubernetes_pod_restarts_total Evicted pods that the kubelet has started again, because their deletion came later.
# TYPE evictd_kubernetes_pod_restarts_total counter
evictd_kubernetes_pod_restarts_total 0

# HELP evictd_kubernetes_pod_lists_total Full lists of the pods of this node: one at the start, more after a failed watch.
# TYPE evictd_kubernetes_pod_lists_total counter

# HELP evictd_kubernetes_evictions_refused_total Evictions of pods that the API server has refused, by reason.
# TYPE evictd_kubernetes_evictions_refused_total counter

# HELP evictd_kubernetes_requests_total Requests to the API server by method and the code of the answer; 'none': no answer.
# TYPE evictd_kubernetes_requests_total counter

# HELP evictd_journal_errors_total Failed writes to the journal in the state directory.
# TYPE evictd_journal_errors_total counter
evictd_journal_errors_total 0

# HELP evictd_journal_lost_records_total Journal records that are in no journal file.
# TYPE evictd_journal_lost_records_total counter
evictd_journal_lost_records_total 0

# HELP evictd_log_lines_dropped_total Log lines dropped because the reader was too slow or a write failed.
# TYPE evictd_log_lines_dropped_total counter
evictd_log_lines_dropped_total 0

# HELP evictd_build_info Always 1, with the version as label.
# TYPE evictd_build_info gauge
evictd_build_info{version="0.1.0"} 1

# HELP evictd_config_last_reload_successful 1 if the configuration that was read last is in force, 0 if evictd refused it.
# TYPE evictd_config_last_reload_successful gauge
evictd_config_last_reload_successful 1

# HELP evictd_config_last_reload_success_timestamp_seconds When the configuration in force was read, in seconds since 1970.
# TYPE evictd_config_last_reload_success_timestamp_seconds gauge
evictd_config_last_reload_success_timestamp_seconds 1795919066.967

# HELP evictd_safe_mode 1 if evictd evicts nothing because it crashed several times, else 0.
# TYPE evictd_safe_mode gauge
evictd_safe_mode 0

# HELP evictd_paused 1 if evictd evicts nothing because an operator has paused evictions, else 0.
# TYPE evictd_paused gauge
evictd_paused 0

# HELP evictd_pause_end_timestamp_seconds When the pause of all evictions ends, in seconds since 1970.
# TYPE evictd_pause_end_timestamp_seconds gauge

# HELP evictd_paused_workloads Workloads whose evictions an operator has paused.
# TYPE evictd_paused_workloads gauge
evictd_paused_workloads 0

# HELP evictd_taint 1 for each taint in force, except those that stand for a condition.
# TYPE evictd_taint gauge

# HELP evictd_taint_evictions_waiting Workloads that tolerate a NoExecute taint for a time.
# TYPE evictd_taint_evictions_waiting gauge
evictd_taint_evictions_waiting 0

# HELP evictd_dry_run 1 if evictd only records what it would do, else 0.
# TYPE evictd_dry_run gauge
evictd_dry_run 0

# HELP process_cpu_seconds_total CPU time of evictd, user and system.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 0.555769

# HELP process_resident_memory_bytes Resident memory of evictd.
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 53485568

# HELP process_open_fds Open file descriptors of evictd.
# TYPE process_open_fds gauge
process_open_fds 75

# HELP process_max_fds How many file descriptors evictd may open.
# TYPE process_max_fds gauge
process_max_fds 20000

# HELP process_start_time_seconds When evictd started, in seconds since 1970.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1795919066.083188
