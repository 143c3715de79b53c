declare module 'node-gyp-build' {
  /** Loads the addon of a package's root directory: build/Release, then prebuilds/<platform>-<arch>. */
  function load(root: string): unknown;
  namespace load {
    /** The file that `load` would load. Throws where there is none for this platform. */
    function resolve(root: string): string;
  }
  export = load;
}
