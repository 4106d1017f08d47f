// In clients/typescript: npm run lint
import js from "@eslint/js";
import typescript from "typescript-eslint";

const GLOBALS = ["AbortController", "AbortSignal", "Buffer", "URL", "clearInterval", "clearTimeout", "console", "crypto", "fetch", "performance",
  "process", "setInterval", "setTimeout"];

export default typescript.config(
  { ignores: ["build", "dist", "lint", "node_modules", "src/generated"] },
  js.configs.recommended,
  {
    files: ["src/**/*.ts"],
    extends: [typescript.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // Values of the server are unknown JSON, and a text is made of each.
      "@typescript-eslint/no-base-to-string": "off",
      "@typescript-eslint/restrict-template-expressions": "off",
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_$" }],
    },
  },
  { files: ["**/*.mjs"], languageOptions: { globals: Object.fromEntries(GLOBALS.map(name => [name, "readonly"])) } },
);
