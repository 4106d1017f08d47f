package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.process.Executables;
import io.keelson.server.base.process.SupervisedProcess;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.tenant.secret.Redaction;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code process.run}: an allowed program with a list of arguments, without a shell, in an allowed folder. */
final class ProcessRun implements Tool {

    private static final ToolSpec SPEC = Specs.spec("process.run", Effects.DESTRUCTIVE,
            "Runs an allowed program with a list of arguments; no shell. Its process tree ends with it, but for a process"
                    + " that both leaves the session and empties its environment.",
            Duration.ofSeconds(60),
            """
            {"type": "object", "additionalProperties": false, "required": ["argv"], "properties": {
              "argv": {"type": "array", "minItems": 1, "maxItems": 500,
                       "items": {"type": "string", "maxLength": 65536}},
              "cwd": {"type": "string", "default": ".", "description": "a folder in an allowed folder"},
              "stdin": {"type": "string", "default": ""},
              "timeout_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 86400},
              "max_output_bytes": {"type": "integer", "minimum": 0, "maximum": 700000, "default": 262144},
              "allow_exit_codes": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255},
                                   "default": [0]},
              "parse": {"enum": ["text", "lines", "json"], "default": "text",
                        "description": "adds stdout as lines or as json"},
              "gateway": {"type": "boolean", "default": false,
                          "description": "gives the program the server's address of models and a token of the step"}}}""",
            """
            {"type": "object", "required": ["exit_code", "stdout", "stderr", "stdout_truncated", "stderr_truncated"],
             "properties": {"exit_code": {"type": "integer"}, "stdout": {"type": "string"},
              "stderr": {"type": "string"}, "stdout_truncated": {"type": "boolean"},
              "stderr_truncated": {"type": "boolean"}, "lines": {"type": "array", "items": {"type": "string"}},
              "json": true}}""").reachingOut();

    private static final int MESSAGE_CHARS = 2_000;

    private final ToolPolicy policy;
    private final BuiltinTools.ProgramVariables programs;

    ProcessRun(ToolPolicy policy, BuiltinTools.ProgramVariables programs) {
        this.policy = policy;
        this.programs = programs;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall given) throws ToolFailure, InterruptedException {
        JsonNode input = given.input();
        Map<String, String> gateway = input.path("gateway").asBoolean(false) ? programs.of(given) : Map.of();
        String token = gateway.get(BuiltinTools.ProgramVariables.TOKEN);
        ToolCall call = token == null ? given : given.redacting(List.of(token));
        List<String> argv = argv(input);
        Path program = program(argv.getFirst());
        AllowedFolders folders = AllowedFolders.of(policy, call);
        Path folder = folder(folders, input.path("cwd").asString("."));
        Duration timeout = timeout(call);
        byte[] stdin = input.path("stdin").asString("").getBytes(StandardCharsets.UTF_8);
        call.log().line("$ " + String.join(" ", argv));
        try {
            Launch launch = launch(program, argv, folders, folder, timeout, gateway);
            String parse = input.path("parse").asString("text");
            UnaryOperator<InputStream> redacted = call.redaction()::stream;
            SupervisedProcess.Outcome outcome = SupervisedProcess.run(launch.command(), folder, launch.environment(),
                    stdin.length == 0 ? null : stdin, input.path("max_output_bytes").asInt(262_144),
                    parse.equals("json") ? UnaryOperator.identity() : redacted, redacted, timeout);
            outcome.stderr().text().lines().forEach(call.log()::line);
            call.log().line("exit code " + outcome.exitCode());
            int most = input.path("max_output_bytes").asInt(262_144);
            if (outcome.stdout().truncated()) {
                call.log().line("stdout was cut after " + most + " bytes: max_output_bytes");
            }
            check(argv.getFirst(), outcome, call);
            if (parse.equals("json") && outcome.stdout().truncated()) {
                throw ToolFailure.permanent("PROCESS_OUTPUT_TOO_LARGE", "the output is longer than the " + most
                        + " bytes of max_output_bytes, so that it cannot be read as JSON");
            }
            return ToolResult.of(output(outcome, parse, call.redaction()));
        } catch (IOException e) {
            throw ToolFailure.infrastructure("PROCESS_NOT_STARTED",
                    argv.getFirst() + " could not be started: " + StartFailures.reason(e));
        }
    }

    /** The executed command line, with its whole environment. */
    record Launch(List<String> command, Map<String, String> environment) {}

    private static Launch launch(Path program, List<String> argv, AllowedFolders folders, Path folder,
            Duration timeout, Map<String, String> gateway) throws ToolFailure, IOException, InterruptedException {
        Map<String, String> environment = new HashMap<>(Map.of(
                "PATH", Executables.PATH,
                "HOME", home(),
                "LANG", "C.UTF-8",
                "LC_ALL", "C.UTF-8",
                "TZ", "UTC"));
        environment.putAll(gateway);
        if (argv.getFirst().equals("git")) {
            return new SafeGit(program, folders).launch(argv, folder, environment, timeout);
        }
        List<String> command = new ArrayList<>(argv);
        command.set(0, program.toString());
        return new Launch(command, environment);
    }

    /** The folder of {@code HOME} of the server, as for every other program; otherwise that of the password file. */
    private static String home() {
        String home = Objects.requireNonNullElse(System.getenv("HOME"), "");
        return home.startsWith("/") ? home : System.getProperty("user.home");
    }

    private static List<String> argv(JsonNode input) throws ToolFailure {
        List<String> argv = input.get("argv").valueStream().map(JsonNode::stringValue).toList();
        if (argv.stream().anyMatch(each -> each.indexOf('\0') >= 0)) {
            throw ToolFailure.permanent("ARGUMENT_NOT_ALLOWED", "an argument must not contain a NUL character");
        }
        return argv;
    }

    private Path program(String name) throws ToolFailure {
        if (!policy.allowedPrograms().contains(name) || name.contains("/")) {
            throw ToolFailure.permanent("COMMAND_NOT_ALLOWED", name + " is not among the allowed commands "
                    + policy.allowedPrograms().stream().sorted().toList());
        }
        Path program = Executables.find(name);
        if (program == null) {
            throw ToolFailure.permanent("COMMAND_NOT_FOUND", name + " is not installed on this machine");
        }
        return program;
    }

    private static Path folder(AllowedFolders folders, String cwd) throws ToolFailure {
        Path folder = folders.locate(cwd).real();
        if (!Files.isDirectory(folder)) {
            throw ToolFailure.permanent("NOT_A_FOLDER", cwd + " is not a folder");
        }
        return folder;
    }

    private Duration timeout(ToolCall call) {
        Duration left = call.deadline().remaining();
        Duration own = call.input().has("timeout_seconds")
                ? Duration.ofMillis((long) (call.input().get("timeout_seconds").doubleValue() * 1000))
                : left;
        return own.compareTo(left) < 0 ? own : left;
    }

    private static void check(String name, SupervisedProcess.Outcome outcome, ToolCall call) throws ToolFailure {
        if (outcome.timedOut()) {
            throw ToolFailure.infrastructure("PROCESS_TIMEOUT", name + " did not end in time and was stopped");
        }
        JsonNode input = call.input();
        boolean allowed = input.has("allow_exit_codes")
                ? input.get("allow_exit_codes").valueStream().anyMatch(each -> each.intValue() == outcome.exitCode())
                : outcome.exitCode() == 0;
        if (!allowed) {
            String said = outcome.stderr().bytes().length > 0 ? outcome.stderr().text() : said(outcome.stdout(), call);
            String code = outcome.exitCode() == 137 ? "PROCESS_KILLED" : "PROCESS_EXIT_NONZERO";
            throw ToolFailure.infrastructure(code, name + " ended with exit code " + outcome.exitCode() + ": "
                    + beginningAndEnd(said.strip()));
        }
    }

    private static String beginningAndEnd(String said) {
        int half = MESSAGE_CHARS / 2;
        return said.length() <= MESSAGE_CHARS ? said
                : said.substring(0, half).strip() + "\n…\n" + said.substring(said.length() - half).strip();
    }

    /** Parses the JSON output first and redacts it then: cut output may end in the beginning of a secret. */
    private static String said(SupervisedProcess.Captured stdout, ToolCall call) {
        boolean head = stdout.truncated() && call.input().path("parse").asString("text").equals("json")
                && !call.redaction().none();
        return head ? "" : call.redaction().text(stdout.text());
    }

    private static JsonNode output(SupervisedProcess.Outcome outcome, String parse, Redaction redaction)
            throws ToolFailure {
        String stdout = outcome.stdout().text();
        ObjectNode output = JsonNodeFactory.instance.objectNode()
                .put("exit_code", outcome.exitCode())
                .put("stdout", parse.equals("text") ? stdout : "")
                .put("stderr", outcome.stderr().text())
                .put("stdout_truncated", outcome.stdout().truncated())
                .put("stderr_truncated", outcome.stderr().truncated());
        if (parse.equals("lines")) {
            ArrayNode lines = output.putArray("lines");
            stdout.lines().forEach(lines::add);
        } else if (parse.equals("json")) {
            output.set("json", parsed(stdout, redaction));
        }
        return output;
    }

    private static JsonNode parsed(String stdout, Redaction redaction) throws ToolFailure {
        try {
            return OutsideJson.read(stdout.getBytes(StandardCharsets.UTF_8));
        } catch (StreamConstraintsException e) {
            throw ToolFailure.permanent("OUTPUT_INVALID", "the JSON of the output: "
                    + Excerpt.firstLine(e.getOriginalMessage()));
        } catch (JacksonException e) {
            throw new ToolFailure("PROCESS_OUTPUT_UNPARSEABLE", ErrorClass.QUALITY,
                    "the output is not JSON" + (redaction.none() ? ": " + e.getOriginalMessage() : ""));
        }
    }

    /** Explains why the system did not start a process. */
    private static final class StartFailures {

        /** {@code ProcessBuilder} has the number of the system's error only in its text. */
        private static final Pattern NUMBER = Pattern.compile("error[=:] ?(\\d+)");

        private StartFailures() {}

        /** @return a clause without a period */
        static String reason(IOException failure) {
            String text = String.valueOf(failure.getMessage());
            Matcher number = NUMBER.matcher(text);
            if (number.find()) {
                return switch (number.group(1)) {
                    case "2" -> "the shell or the working folder was not found on the server";
                    case "7" -> "its arguments are longer than the system allows";
                    case "11" -> "the system has reached its limit of processes";
                    case "12" -> "the system has no memory left";
                    case "13" -> "the server may not execute the shell or enter the working folder";
                    case "23", "24" -> "the system has reached its limit of open files";
                    default -> "the system reported error " + number.group(1);
                };
            }
            return failure instanceof FileSystemException
                    ? "its standard input could not be written to a temporary file"
                    : text;
        }
    }
}
