// Checks objects of Kubernetes against their types: node strict.mjs FILE.json, which has a list of objects.
// TypeScript refuses unknown members of object literals, missing members and wrong types; prints its errors and exits with 1.
import { readFileSync, writeFileSync } from "node:fs";
import ts from "typescript";

const PACKAGES = { "keda.sh": "@kubernetes-models/keda", "monitoring.coreos.com": "@kubernetes-models/prometheus-operator" };

const objects = JSON.parse(readFileSync(process.argv[2], "utf8"));
const lines = objects.flatMap((object, number) => {
  const group = object.apiVersion.split("/")[0];
  const module = `${PACKAGES[group] ?? "kubernetes-models"}/${object.apiVersion}/${object.kind}`;
  return [
    `import type { I${object.kind} as Type${number} } from "${module}";`,
    `export const object${number}: Type${number} = ${JSON.stringify(object, null, 1)};`,
  ];
});
const file = `${process.argv[2]}.mts`;
writeFileSync(file, lines.join("\n"));
const program = ts.createProgram([file], {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: [],
});
const problems = ts.getPreEmitDiagnostics(program);
for (const problem of problems) {
  console.log(ts.flattenDiagnosticMessageText(problem.messageText, "\n"));
}
process.exit(problems.length === 0 ? 0 : 1);
