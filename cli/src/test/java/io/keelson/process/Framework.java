package io.keelson.process;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Agents of frameworks of npm: the examples, and command lines of coding agents. */
enum Framework {
    OPENAI("openai"), OPENAI_AGENTS("@openai/agents", "zod"), ANTHROPIC("@anthropic-ai/sdk"),
    AI_SDK("ai", "@ai-sdk/openai", "zod"), LANGGRAPH("@langchain/langgraph", "@langchain/openai", "@langchain/core",
            "zod"),
    MASTRA("@mastra/core", "@ai-sdk/openai", "zod"), CODEX("@openai/codex"), CLAUDE("@anthropic-ai/claude-code"),
    OPENCODE("opencode-ai");

    private static final Path EXAMPLES = Path.of("../examples/bring-your-agent").toAbsolutePath().normalize();
    private static final Path TARGET = Path.of("target/frameworks").toAbsolutePath();
    /** Versions of coding agents, which are in no example. */
    private static final List<String> CODING_AGENTS = List.of("@openai/codex@0.171.0",
            "@anthropic-ai/claude-code@2.1.332", "opencode-ai@1.18.33");

    private final List<String> packages;

    Framework(String... packages) {
        this.packages = List.of(packages);
    }

    /** Its name in npm. */
    String npm() {
        return packages.getFirst();
    }

    /** The name of its example. */
    String example() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    String tool() {
        return "framework." + example();
    }

    /** The commands that start an agent, for a shell; the step's input has the question. */
    static String program(Path pids) {
        return """
                printf '%%s' $$ >'%1$s/'"$KEELSON_RUN_ID"
                question=$(sed 's/.*"question" *: *"\\([^"]*\\)".*/\\1/' "$KEELSON_INPUT_FILE")
                case $KEELSON_TOOL in
                framework.codex)
                    exec '%2$s/node_modules/.bin/codex' exec --skip-git-repo-check \\
                        --dangerously-bypass-approvals-and-sandbox -m codex "$question" </dev/null ;;
                framework.claude)
                    exec '%2$s/node_modules/.bin/claude' -p --model claude --allowedTools Bash -- "$question" </dev/null ;;
                framework.opencode)
                    cat >opencode.json <<END
                {"provider": {"keelson": {"npm": "@ai-sdk/openai-compatible", "models": {"opencode": {}},
                  "options": {"baseURL": "$OPENAI_BASE_URL", "apiKey": "{env:OPENAI_API_KEY}"}}}}
                END
                    exec '%2$s/node_modules/.bin/opencode' run --title kills -m keelson/opencode "$question" </dev/null ;;
                *) exec node '%2$s'/"${KEELSON_TOOL#framework.}.mjs" ;;
                esac
                """.formatted(pids, TARGET);
    }

    /** Installs the packages of frameworks; skips the test where npm cannot. */
    static void install(List<Framework> frameworks) throws IOException, InterruptedException {
        Files.createDirectories(TARGET);
        try (FileChannel lock = FileChannel.open(TARGET.resolve("lock"), StandardOpenOption.CREATE,
                StandardOpenOption.WRITE); var _ = lock.lock(); Stream<Path> examples = Files.list(EXAMPLES)) {
            for (Path file : examples.filter(each -> each.toString().endsWith(".mjs")).toList()) {
                Files.copy(file, TARGET.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
            JsonNode versions = JsonMapper.shared().readTree(Files.readString(EXAMPLES.resolve("package.json")))
                    .get("dependencies");
            List<String> wanted = Stream.concat(frameworks.stream().flatMap(each -> each.packages.stream())
                    .filter(versions::has).map(each -> each + "@" + versions.get(each).stringValue()),
                    CODING_AGENTS.stream().filter(each -> frameworks.stream()
                            .anyMatch(framework -> each.startsWith(framework.npm() + "@"))))
                    .distinct().sorted(Comparator.naturalOrder()).toList();
            Path have = TARGET.resolve("installed");
            if (Files.exists(have) && Files.readAllLines(have).containsAll(wanted)) {
                return;
            }
            List<String> command = new ArrayList<>(List.of("npm", "install", "--no-audit", "--no-fund",
                    "--no-package-lock", "--legacy-peer-deps", "--prefer-offline"));
            command.addAll(wanted);
            Files.writeString(TARGET.resolve("package.json"), "{\"private\": true, \"type\": \"module\"}");
            Process npm = new ProcessBuilder(command).directory(TARGET.toFile()).redirectErrorStream(true)
                    .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectOutput(TARGET.resolve("npm.log").toFile()).start();
            Assumptions.assumeTrue(npm.waitFor(10, TimeUnit.MINUTES) && npm.exitValue() == 0,
                    "LEFT OUT: npm could not install the frameworks, so their programs were not killed");
            if (frameworks.contains(CLAUDE)) { // its script of the installation, which npm does not execute by itself
                new ProcessBuilder("node", "install.cjs")
                        .directory(TARGET.resolve("node_modules/@anthropic-ai/claude-code").toFile())
                        .redirectInput(Path.of("/dev/null").toFile()).redirectErrorStream(true)
                        .redirectOutput(TARGET.resolve("claude.log").toFile()).start().waitFor();
            }
            Files.writeString(have, wanted.stream().collect(Collectors.joining("\n")));
        }
    }
}
