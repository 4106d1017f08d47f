package io.keelson.cli.worker;

import io.keelson.api.work.ModelInfo;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.DocumentFile;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ProgramName;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.worker.Effects;
import io.keelson.client.worker.ToolSpec;
import io.keelson.client.worker.Worker;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.base.process.Executables;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "worker", description = {"Serves a tool by starting a program for each step, until SIGTERM or Ctrl-C.",
        "The program reads the step's input as JSON from standard input and writes the output to standard output. Lines of standard error become the step's log. Files in $KEELSON_OUT become artifacts. Exit code 0 completes the step, 75 has it tried again, 64 to 66 fail it for good. See docs/guide/bring-your-agent.md.",
        "A step has a lease of 30 seconds, which heartbeats renew while its program runs. If the worker is killed, its steps are executed again when their leases have expired."},
        footer = {"  keelson worker --tool research.agent -- python agent.py",
                "  keelson worker --tool text.upper --slots 4 -- tr a-z A-Z",
                "  keelson worker --tool code.fix --for codex --resume-command 'codex exec resume --last Continue' -- codex exec 'Fix it'"})
public final class WorkerCommand extends ClientCommand {

    private static final int MAX_SLOTS = 1_000;
    private static final Duration REPORTING = Duration.ofSeconds(5);
    private static final int UNAUTHENTICATED = 401;
    private static final Pattern TOOL = Pattern.compile("[\\p{L}\\p{N}._/-]{1,200}");
    private static final int FORBIDDEN = 403;
    /** The scope that lists models; a key for workers may lack it. */
    private static final String READ = "runs:read";
    /** Format of the SDK's log lines: time, level, message, stack trace. */
    private static final String LOG_LINE = "%1$tFT%1$tT.%1$tL%1$tz %4$s %5$s%6$s%n";

    @Option(names = "--tool", paramLabel = "NAME", required = true,
            description = "The tool to serve; may be given several times. $$KEELSON_TOOL has the step's one.")
    List<String> tools = List.of();

    @Parameters(arity = "1..*", paramLabel = "PROGRAM", description = "The program and its arguments, after --.")
    List<String> program = List.of();

    @Option(names = "--slots", paramLabel = "N", defaultValue = "1",
            description = "How many programs run at a time. Default: ${DEFAULT-VALUE}.")
    int slots;

    @Option(names = "--id", paramLabel = "ID", description = "The worker's id. Default: a random one.")
    @Nullable String id;

    @Option(names = "--version-id", paramLabel = "VERSION",
            description = "The version of the program, by which `keelson versions` gives it steps. Default: none.")
    @Nullable String version;

    @Option(names = "--grace", paramLabel = "TIME", defaultValue = "10s", converter = DurationArgument.class,
            description = "From SIGTERM to SIGKILL when a program is to end. Default: ${DEFAULT-VALUE}.")
    Duration grace = Duration.ZERO;

    @Option(names = "--drain", paramLabel = "TIME", defaultValue = "10s", converter = DurationArgument.class,
            description = "How long programs may finish when the worker stops, before they are ended and their steps handed back. Default: ${DEFAULT-VALUE}.")
    Duration drain = Duration.ZERO;

    @Option(names = "--output", paramLabel = "FORM", defaultValue = "auto",
            description = "auto, json or text: what standard output is. With auto, one JSON document is JSON and all else text.")
    ProgramOutput.Form form = ProgramOutput.Form.AUTO;

    @Option(names = "--env", paramLabel = "NAME[=VALUE]",
            description = "Set a variable of the program, or hand over one that is withheld, such as a provider's key.")
    List<String> variables = List.of();

    @Option(names = "--step-folder",
            description = "Run each program in a folder of its step, with HOME and CODEX_HOME of its own. Otherwise it runs in the worker's folder.")
    boolean stepFolder;

    @Option(names = "--resume-command", paramLabel = "COMMAND",
            description = "The shell command to run instead when the step was started here before. Implies --step-folder.")
    @Nullable String resume;

    @Option(names = "--for", paramLabel = "AGENT",
            description = "codex, opencode or claude: write the configuration by which this coding agent finds the models. Implies --step-folder.")
    @Nullable CodingAgent coding;

    @Option(names = "--description", paramLabel = "TEXT",
            description = "One sentence about the tools, for people and for agents that may call them.")
    @Nullable String description;

    @Option(names = "--effects", paramLabel = "EFFECTS",
            description = "read, idempotent, once or destructive: how agents' calls of the tools are made. Default: like idempotent.")
    @Nullable Effects effects;

    @Option(names = "--input-schema", paramLabel = "FILE", description = "JSON Schema of the tools' input.")
    @Nullable Path schema;

    @Option(names = "--model", paramLabel = "NAME",
            description = "A model that programs may use; may be given several times. Default: all that the rules allow.")
    List<String> models = List.of();

    private Path executable = Path.of("");
    private @Nullable JsonNode inputSchema;
    private final Map<String, String> chosen = new LinkedHashMap<>();

    @Override
    protected void prepare() {
        if (slots < 1 || slots > MAX_SLOTS) {
            throw CliException.usage("INVALID_SLOTS", "--slots must be 1 to " + MAX_SLOTS + ", not " + slots);
        }
        for (String tool : tools) {
            if (!TOOL.matcher(tool).matches() || tool.startsWith("mcp.")) {
                throw CliException.usage("INVALID_TOOL",
                        "--tool must be a name of letters, digits, '.', '_', '-' and '/'"
                                + " that does not begin with mcp., not '" + tool + "'");
            }
        }
        executable = executable(program.getFirst());
        if (schema != null) {
            inputSchema = DocumentFile.read(schema.toString(), "schema", "INVALID_SCHEMA").document();
        }
        for (String each : variables) {
            String[] parts = each.split("=", 2);
            String value = parts.length > 1 ? parts[1] : environment().get(parts[0]);
            if (value == null || parts[0].isEmpty()) {
                throw CliException.usage("INVALID_VARIABLE",
                        "--env must be NAME=VALUE or the name of a variable that is set, not '" + each + "'");
            }
            chosen.put(parts[0], value);
        }
    }

    /** A name is searched on the path, anything else is a file. */
    private Path executable(String name) {
        Path found = name.contains("/") ? Path.of(name).toAbsolutePath() : Executables.find(name);
        if (found == null || !Files.exists(found)) {
            boolean here = found == null && Files.isRegularFile(Path.of(name));
            throw CliException.usage("PROGRAM_NOT_FOUND", found == null
                    ? "there is no program " + name + " on the PATH" + (here ? "; did you mean ./" + name + "?" : "")
                    : "there is no file " + found);
        }
        if (!Files.isRegularFile(found) || !Files.isExecutable(found)) {
            throw CliException.usage("PROGRAM_NOT_EXECUTABLE", found
                    + " is not an executable file: name its interpreter, such as `-- python " + name
                    + "`, or make it executable");
        }
        return found;
    }

    @Override
    protected void run(Keelson keelson) throws IOException {
        System.setProperty("java.util.logging.SimpleFormatter.format", LOG_LINE);
        check(keelson);
        Path root = settings().dataDir().resolve("worker");
        Path workerFolder = Path.of("").toAbsolutePath();
        removeOld(root);
        List<String> command = new ArrayList<>(program);
        command.set(0, executable.toString());
        boolean ownFolder = stepFolder || resume != null || coding != null;
        ProgramHandler handler = new ProgramHandler(
                new ProgramHandler.Program(command, resume, ownFolder, coding, form, grace), root, workerFolder,
                new ProgramEnvironment(environment(), chosen, ownFolder, workerFolder), clock());
        Worker.Builder builder = Worker.builder(keelson).slots(slots).grace(drain.plus(grace).plus(REPORTING));
        tools.stream().distinct().forEach(tool -> builder.tool(spec(tool), handler));
        if (id != null) {
            builder.id(id);
        }
        if (version != null) {
            builder.version(version);
        }
        URI broker = settings().broker();
        if (broker != null) {
            builder.rabbitmq(broker);
        }
        Worker worker = builder.build();
        server().whenInterrupted(() -> stop(worker, handler));
        worker.start();
        note("the server is at " + keelson.url() + ". Press Ctrl-C to stop");
        try {
            worker.awaitStop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stop(worker, handler);
        }
    }

    private ToolSpec spec(String tool) {
        ToolSpec spec = new ToolSpec(tool, description, inputSchema, effects);
        return models.isEmpty() ? spec.withGateway() : spec.withGateway(models);
    }

    /** A wrong key or model is an error now; an unreachable server may come up later. */
    private void check(Keelson keelson) {
        try {
            if (keelson.whoAmI().scopes().contains(READ)) {
                checkModels(keelson);
            }
        } catch (KeelsonException e) {
            if (e.status() == UNAUTHENTICATED || e.status() == FORBIDDEN) {
                throw e;
            }
            note("the server at " + keelson.url() + " does not answer yet; the worker waits for it");
        }
    }

    private void checkModels(Keelson keelson) {
        if (models.isEmpty()) {
            return;
        }
        List<String> known = keelson.models().stream().map(ModelInfo::name).toList();
        for (String model : models) {
            if (!known.contains(model)) {
                throw CliException.usage("UNKNOWN_MODEL", "the server at " + keelson.url() + " has no model '" + model
                        + "'; it has: " + (known.isEmpty() ? "none" : String.join(", ", known)));
            }
        }
    }

    private void stop(Worker worker, ProgramHandler handler) {
        note(ProgramName.current() + " worker stops: programs have " + drain.toSeconds() + " s to finish");
        Thread ending = Thread.ofVirtual().name("worker-drain").start(() -> {
            try {
                Thread.sleep(drain);
                handler.interrupt();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        worker.close();
        ending.interrupt();
    }

    private void removeOld(Path root) {
        try {
            StepFolder.removeOld(root, clock().instant());
        } catch (IOException e) {
            note("cannot remove old folders of " + root + ": " + FileProblems.reason(e));
        }
    }
}
