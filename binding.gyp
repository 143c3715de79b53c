{
  'targets': [
    {
      'target_name': 'evictd',
      'dependencies': ["<!(node -p \"require('node-addon-api').targets\"):node_addon_api_except"],
      'include_dirs': ['native'],
      'defines': ['NAPI_VERSION=8', 'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS'],
      'sources': [
        'native/addon.cc',
        'native/common/js_argument.cc',
        'native/common/js_error.cc',
        'native/common/system_error.cc',
        'native/common/wake.cc',
      ],
      'conditions': [
        ['OS=="linux"', {
          'sources': [
            'native/linux/cgroup_handle.cc',
            'native/linux/cgroup_processes.cc',
            'native/linux/cgroup_table.cc',
            'native/linux/deadline_sampler.cc',
            'native/linux/file_lock.cc',
            'native/linux/file_sum.cc',
            'native/linux/filesystem_stats.cc',
            'native/linux/filesystem_value.cc',
            'native/linux/kernel_text.cc',
            'native/linux/limit_sides.cc',
            'native/linux/memcg_events.cc',
            'native/linux/memcg_threshold.cc',
            'native/linux/process.cc',
            'native/linux/psi_trigger.cc',
            'native/linux/reader.cc',
            'native/linux/thread.cc',
            'native/linux/waiter.cc',
            'native/linux/js/cgroup_handle.cc',
            'native/linux/js/cgroup_table.cc',
            'native/linux/js/deadline_sampler.cc',
            'native/linux/js/environment.cc',
            'native/linux/js/file_lock.cc',
            'native/linux/js/file_reader.cc',
            'native/linux/js/file_spec.cc',
            'native/linux/js/filesystem_stats.cc',
            'native/linux/js/memcg_events.cc',
            'native/linux/js/memcg_threshold.cc',
            'native/linux/js/process.cc',
            'native/linux/js/psi_trigger.cc',
            'native/linux/js/watch_object.cc',
          ],
          'cflags': ['-Wall', '-Wextra', '-fvisibility=hidden', '-ffunction-sections', '-fdata-sections'],
          'cflags_cc': ['-std=c++17', '-fvisibility-inlines-hidden'],
          # nodelete: the end of a worker may unload the addon while a thread that hangs in statfs still has its code to return to.
          # libstdc++ inside, so that no version of it is asked for, and hidden by exports.map. libgcc_s comes with every Node; its static
          # form would ask for glibc 2.35, and RHEL 9 has 2.34.
          'ldflags': [
            '-Wl,-z,nodelete',
            '-Wl,--gc-sections',
            '-Wl,--version-script=<(module_root_dir)/native/linux/exports.map',
            '-static-libstdc++',
            '-s',
          ],
        }],
      ],
      'configurations': {
        'Release': {'cflags!': ['-O3'], 'cflags': ['-O2']},
      },
    },
  ],
}
