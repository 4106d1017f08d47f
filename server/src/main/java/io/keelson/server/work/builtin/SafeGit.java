package io.keelson.server.work.builtin;

import io.keelson.server.base.process.SupervisedProcess;
import io.keelson.server.engine.tool.ToolFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Makes git safe to run in a repository one does not trust: reading subcommands only, no option that writes, executes
 * or reads files elsewhere, no network, no pager, editor or prompt, and no program that the repository's own
 * configuration names (file monitor, hooks, filters, text converters, diff and merge drivers, signature checkers).
 */
final class SafeGit {

    private static final Set<String> SUBCOMMANDS = Set.of("blame", "branch", "cat-file", "count-objects", "describe",
            "diff", "for-each-ref", "log", "ls-files", "ls-tree", "merge-base", "name-rev", "rev-list", "rev-parse",
            "shortlog", "show", "show-ref", "status", "tag");

    /** Arguments that go before the caller's, by subcommand. Listing is what makes branch and tag read-only. */
    private static final Map<String, List<String>> PREPENDED = Map.of(
            "blame", List.of("--no-textconv"),
            "branch", List.of("--list"),
            "diff", List.of("--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
            "log", List.of("--no-ext-diff", "--no-textconv"),
            "show", List.of("--no-ext-diff", "--no-textconv"),
            "status", List.of("--ignore-submodules=all"),
            "tag", List.of("--list"));

    /** Long options that are refused, abbreviations included. */
    private static final List<String> REFUSED = List.of("--output", "--output-directory", "--ext-diff", "--textconv",
            "--filters", "--no-index", "--contents", "--exec", "--exec-path", "--upload-pack", "--receive-pack",
            "--open-files-in-pager", "--help", "--exclude-from", "--exclude-per-directory", "--alternate-refs",
            "--git-dir", "--work-tree", "--config-env", "--pathspec-from-file", "--ignore-revs-file", "--submodule",
            "--ignore-submodules", "--recurse-submodules", "--edit-description", "--file", "--order-file",
            "--parseopt");

    /** Options that are complete although a refused one begins like them. */
    private static final Set<String> COMPLETE = Set.of("--text");

    private static final Map<String, List<String>> REFUSED_SHORT = Map.of(
            "blame", List.of("-S"), "diff", List.of("-O"), "log", List.of("-O"), "show", List.of("-O"),
            "ls-files", List.of("-X"));

    private static final String DRIVERS = "^(filter\\..*\\.(clean|smudge|process)|diff\\..*\\.(textconv|command)"
            + "|merge\\..*\\.driver)$";

    private final Path program;
    private final AllowedFolders folders;

    SafeGit(Path program, AllowedFolders folders) {
        this.program = program;
        this.folders = folders;
    }

    /** @throws ToolFailure {@code ARGUMENT_NOT_ALLOWED}, {@code NOT_A_REPOSITORY}, {@code PATH_NOT_ALLOWED} */
    ProcessRun.Launch launch(List<String> argv, Path folder, Map<String, String> environment, Duration timeout)
            throws ToolFailure, IOException, InterruptedException {
        if (argv.size() < 2 || !SUBCOMMANDS.contains(argv.get(1))) {
            throw refused("git runs with one of " + SUBCOMMANDS.stream().sorted().toList() + " as its first argument");
        }
        String subcommand = argv.get(1);
        List<String> arguments = argv.subList(2, argv.size());
        check(subcommand, arguments);
        List<String> git = new ArrayList<>(List.of(program.toString(), "--no-pager", "--no-optional-locks"));
        git.addAll(GitRepository.find(folder, folders).options());
        Map<String, String> safe = environment(environment, fixedConfig());
        List<String> command = new ArrayList<>(git);
        command.add(subcommand);
        if (!arguments.equals(List.of("--show-current"))) {
            command.addAll(PREPENDED.getOrDefault(subcommand, List.of()));
        }
        command.addAll(arguments);
        return new ProcessRun.Launch(command,
                environment(environment, configWithoutDrivers(git, folder, safe, timeout)));
    }

    private static void check(String subcommand, List<String> arguments) throws ToolFailure {
        boolean options = true;
        for (String argument : arguments) {
            options &= !argument.equals("--");
            if (options && argument.startsWith("-")) {
                checkOption(subcommand, argument);
            } else if (subcommand.equals("diff")
                    && (argument.startsWith("/") || List.of(argument.split("/")).contains(".."))) {
                throw refused("git diff of paths outside of the repository is not allowed: " + argument);
            }
        }
    }

    private static void checkOption(String subcommand, String argument) throws ToolFailure {
        String name = argument.contains("=") ? argument.substring(0, argument.indexOf('=')) : argument;
        boolean refusedLong = name.startsWith("--") && name.length() > 2 && !COMPLETE.contains(name)
                && REFUSED.stream().anyMatch(each -> each.startsWith(name));
        boolean refusedShort = !name.startsWith("--")
                && REFUSED_SHORT.getOrDefault(subcommand, List.of()).stream().anyMatch(name::startsWith);
        if (refusedLong || refusedShort) {
            throw refused("git " + subcommand + " with " + name + " is not allowed");
        }
    }

    /** Options that override configuration with programs, or with remote access on a read. */
    private static Map<String, String> fixedConfig() {
        Map<String, String> config = new LinkedHashMap<>();
        config.put("core.fsmonitor", "false");
        config.put("core.hooksPath", "/dev/null");
        config.put("core.pager", "cat");
        config.put("core.alternateRefsCommand", "false");
        config.put("core.attributesFile", "/dev/null");
        config.put("core.excludesFile", "/dev/null");
        config.put("core.quotePath", "false");
        config.put("blame.ignoreRevsFile", "");
        config.put("diff.orderFile", "/dev/null");
        config.put("mailmap.file", "/dev/null");
        config.put("diff.submodule", "short");
        config.put("status.submoduleSummary", "false");
        config.put("submodule.recurse", "false");
        config.put("log.showSignature", "false");
        for (String program : List.of("gpg.program", "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program")) {
            config.put(program, "false");
        }
        return config;
    }

    /** The drivers a repository configures are known by name only, so they are asked for and then set to nothing. */
    private Map<String, String> configWithoutDrivers(List<String> git, Path folder, Map<String, String> environment,
            Duration timeout) throws IOException, InterruptedException, ToolFailure {
        List<String> command = new ArrayList<>(git);
        command.addAll(List.of("config", "--includes", "--null", "--name-only", "--get-regexp", DRIVERS));
        SupervisedProcess.Outcome outcome = SupervisedProcess.run(command, folder, environment, null, 1 << 20,
                UnaryOperator.identity(), UnaryOperator.identity(), timeout);
        if (outcome.timedOut() || outcome.stdout().truncated() || outcome.exitCode() > 1) {
            throw ToolFailure.permanent("NOT_A_REPOSITORY",
                    "git cannot read the repository's configuration: " + outcome.stderr().text().strip());
        }
        Map<String, String> config = fixedConfig();
        for (String key : outcome.stdout().text().split("\0")) {
            if (!key.isEmpty()) {
                config.put(key, key.startsWith("filter.") ? "" : key.startsWith("diff.") ? "cat" : "false");
            }
        }
        return config;
    }

    private static Map<String, String> environment(Map<String, String> base, Map<String, String> config) {
        Map<String, String> environment = new HashMap<>(base);
        environment.putAll(Map.of(
                "GIT_CONFIG_NOSYSTEM", "1",
                "GIT_CONFIG_GLOBAL", "/dev/null",
                "GIT_ATTR_NOSYSTEM", "1",
                "GIT_TERMINAL_PROMPT", "0",
                "GIT_OPTIONAL_LOCKS", "0",
                "GIT_ALLOW_PROTOCOL", "none",
                "GIT_NO_LAZY_FETCH", "1",
                "GIT_ASKPASS", "false",
                "GIT_EDITOR", "false",
                "GIT_PAGER", "cat"));
        environment.put("GIT_CONFIG_COUNT", String.valueOf(config.size()));
        int index = 0;
        for (Map.Entry<String, String> each : config.entrySet()) {
            environment.put("GIT_CONFIG_KEY_" + index, each.getKey());
            environment.put("GIT_CONFIG_VALUE_" + index++, each.getValue());
        }
        return environment;
    }

    private static ToolFailure refused(String message) {
        return ToolFailure.permanent("ARGUMENT_NOT_ALLOWED", message);
    }
}
