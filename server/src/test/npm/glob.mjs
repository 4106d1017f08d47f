// The conformance suites import globSync of node:fs, which Node 20 lacks and servers' scenarios do not use.
import { register } from 'node:module';

const fs = 'data:text/javascript,' + encodeURIComponent(
  "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];");
register('data:text/javascript,' + encodeURIComponent(`
  export async function resolve(specifier, context, next) {
    return specifier === 'fs' && context.parentURL?.includes('/conformance-')
      ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(specifier, context);
  }`));
