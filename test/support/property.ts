import fc from 'fast-check';

/** The same inputs in each run of CI; `make proof ARGS=properties` tries others. Repeat one of its runs: PROPERTY_SEED=N make test ARGS=FILE */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });

export { fc };
