package io.keelson.cli.admin;

import io.keelson.api.work.McpServer;
import io.keelson.api.work.NodeInfo;
import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.Logging;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.server.app.KeelsonVersion;
import io.keelson.server.app.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "doctor",
        description = "Checks whether Keelson can run on this machine and shows how to fix problems. Changes nothing; exit code 1 when a check fails.",
        footer = {"  keelson doctor",
                "  KEELSON_DATABASE_URL=postgresql://user:password@db:5432/keelson keelson doctor"})
public final class DoctorCommand extends CliCommand {

    @Override
    public Integer call() {
        List<CheckResult> findings = findings();
        if (json) {
            ObjectNode document = Json.object();
            findings.forEach(each -> document.withArrayProperty("checks").add(document(each)));
            print(document);
        } else {
            findings.forEach(each -> print(lines(each, style())));
        }
        boolean failed = findings.stream().anyMatch(each -> each.verdict() == CheckResult.Verdict.FAIL);
        return failed ? ExitCode.FAILED : ExitCode.OK;
    }

    private List<CheckResult> findings() {
        List<CheckResult> findings = new ArrayList<>();
        findings.add(CheckResult.ok("keelson", KeelsonVersion.current().toString()));
        findings.add(MachineChecks.java(Runtime.version()));
        findings.addAll(MachineChecks.environment(environment()));
        Settings settings;
        try {
            settings = settings();
        } catch (CliException e) {
            e.problems().forEach(problem -> findings.add(CheckResult.fail("settings", problem.message(),
                    "docs/reference/configuration.md lists them")));
            return findings;
        }
        findings.addAll(MachineChecks.dataFolder(settings.dataDir()));
        findings.add(MachineChecks.git());
        findings.add(MachineChecks.slots(settings));
        findings.addAll(MachineChecks.models(settings));
        findings.addAll(MachineChecks.allowedFolders(settings));
        Logging.toFile(settings, Path.of("/dev/null"));
        findings.addAll(MachineChecks.objectStore(settings));
        findings.addAll(MachineChecks.broker(settings));
        findings.addAll(MachineChecks.mail(settings));
        Keelson server = ServerConnection.find(settings);
        if (server != null) {
            findings.add(server(server));
            findings.addAll(losses(server));
            findings.addAll(versions(server));
            findings.addAll(mcpServers(server));
        }
        boolean listens = server != null
                && (settings.client().url() == null || server.url().getPort() == settings.http().port());
        if (!listens) {
            findings.add(MachineChecks.port(settings));
        }
        findings.addAll(new DatabaseChecks(clock()).findings(settings));
        return findings;
    }

    private static CheckResult server(Keelson server) {
        if (server.ready()) {
            return CheckResult.ok("server", "ready at " + server.url());
        }
        return server.present()
                ? CheckResult.fail("server", "the server at " + server.url() + " accepts no runs",
                        server.url() + "/readyz and the server's log name the reason")
                : CheckResult.fail("server", "no server responds at " + server.url(),
                        "start it with `keelson server`, or correct KEELSON_URL");
    }

    /** The loss that is not accepted; none without an operator's key. */
    private static List<CheckResult> losses(Keelson server) {
        try {
            return server.databaseLosses().stream().filter(loss -> loss.acceptedAt() == null).limit(1)
                    .map(DatabaseChecks::lost).toList();
        } catch (KeelsonException e) {
            return List.of();
        }
    }

    /** A warning while servers of different versions work; none without an operator's key. */
    private static List<CheckResult> versions(Keelson server) {
        try {
            Set<String> versions = server.nodes().stream().map(NodeInfo::version)
                    .collect(Collectors.toCollection(TreeSet::new));
            return versions.size() < 2 ? List.of()
                    : List.of(CheckResult.warn("versions",
                            "servers of different versions work on the database: " + String.join(", ", versions),
                            "end the upgrade: docs/operate/backup.md has its steps"));
        } catch (KeelsonException e) {
            return List.of();
        }
    }

    /** One result for each MCP server of the workspace; none without a key of its administrators. */
    private static List<CheckResult> mcpServers(Keelson server) {
        try {
            return server.mcpServers().list().stream().map(each -> mcpServer(server, each.name())).toList();
        } catch (KeelsonException e) {
            return List.of();
        }
    }

    private static CheckResult mcpServer(Keelson server, String name) {
        McpServer found = server.mcpServers().check(name);
        List<String> changed = found.tools().stream().filter(tool -> tool.state().equals("changed"))
                .map(McpServer.Tool::name).toList();
        String subject = "mcp " + name;
        if (found.error() != null) {
            return CheckResult.warn(subject, found.error(), found.url() == null
                    ? "`keelson mcp show " + name + "` shows what the program wrote to its standard error"
                    : "check " + found.url() + " and the credentials, then call `keelson mcp check " + name + "`");
        }
        if (!found.warnings().isEmpty()) {
            return CheckResult.warn(subject, String.join("; ", found.warnings()),
                    "`keelson mcp add " + name + "` with the names that it has replaces the definition");
        }
        return changed.isEmpty()
                ? CheckResult.ok(subject, found.tools().size() + " tools, protocol " + found.protocol())
                : CheckResult.warn(subject, "changed: " + String.join(", ", changed),
                        "look with `keelson mcp show " + name + "`, accept with `keelson mcp accept " + name
                                + " TOOL`");
    }

    private static List<String> lines(CheckResult result, Style style) {
        String verdict = switch (result.verdict()) {
            case OK -> style.green("ok  ");
            case WARN -> style.yellow("warn");
            case FAIL -> style.red("fail");
        };
        String line = verdict + "  " + TerminalText.pad(result.subject(), 20) + "  " + result.message();
        return result.advice() == null ? List.of(line) : List.of(line, " ".repeat(28) + "→ " + result.advice());
    }

    private static ObjectNode document(CheckResult result) {
        ObjectNode json = Json.object().put("check", result.subject())
                .put("verdict", result.verdict().name().toLowerCase(Locale.ROOT))
                .put("message", result.message());
        @Nullable String advice = result.advice();
        return advice == null ? json : json.put("advice", advice);
    }
}
