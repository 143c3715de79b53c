// Stands in for node:module in the scripts of the program, which have Node's require: loading that module takes 1 ms.
export const createRequire = () => require;
