import fc from 'fast-check';

/** CI tries the same inputs each time, `make proof ARGS=properties` others. PROPERTY_SEED=N make test ARGS=FILE repeats one of its runs. */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });

export { fc };
