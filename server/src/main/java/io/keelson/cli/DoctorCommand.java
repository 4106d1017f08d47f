package io.keelson.cli;

import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Style;
import io.keelson.client.Keelson;
import io.keelson.core.plan.Problem;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "doctor", description = "Looks whether Keelson can work on this machine and says what to do where it "
        + "cannot. Changes nothing; exit code 1 when something fails.", footerHeading = "%nExamples:%n",
        footer = {"  keelson doctor",
                "  KEELSON_DATABASE_URL=postgresql://user:password@db:5432/keelson keelson doctor"})
final class DoctorCommand extends CliCommand {

    @Override
    public Integer call() {
        List<Finding> findings = findings();
        if (json) {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            findings.forEach(each -> document.withArrayProperty("checks").add(document(each)));
            print(document);
        } else {
            findings.forEach(each -> print(lines(each, style())));
        }
        boolean failed = findings.stream().anyMatch(each -> each.verdict() == Finding.Verdict.FAIL);
        return failed ? ExitCode.FAILED : ExitCode.OK;
    }

    private List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        findings.add(MachineChecks.java(Runtime.version()));
        findings.addAll(MachineChecks.environment(environment()));
        try {
            Settings settings = settings();
            findings.addAll(MachineChecks.dataFolder(settings.dataDir()));
            findings.add(MachineChecks.git());
            Keelson server = Link.find(settings);
            if (server != null) {
                findings.add(server(server));
            }
            boolean dataFolderTaken = server != null && settings.url() == null && settings.databaseUrl() == null;
            if (!dataFolderTaken) {
                findings.add(MachineChecks.port(settings));
                Logging.toFile(settings, Path.of("/dev/null"));
                findings.addAll(new DatabaseChecks(clock()).findings(settings));
            }
        } catch (InvalidSettingsException e) {
            for (Problem problem : e.problems()) {
                findings.add(Finding.fail("settings", problem.message(), "docs/configuration.md lists them"));
            }
        }
        return findings;
    }

    private static Finding server(Keelson server) {
        return server.ready() ? Finding.ok("server", "one runs at " + server.url() + " and takes runs")
                : Finding.fail("server", "none answers at " + server.url(),
                        "start it with `keelson server`, or correct KEELSON_URL");
    }

    private static List<String> lines(Finding finding, Style style) {
        String verdict = switch (finding.verdict()) {
            case OK -> style.green("ok  ");
            case WARN -> style.yellow("warn");
            case FAIL -> style.red("fail");
        };
        String line = verdict + "  " + Cells.pad(finding.subject(), 20) + "  " + finding.message();
        return finding.advice() == null ? List.of(line) : List.of(line, " ".repeat(28) + "→ " + finding.advice());
    }

    private static ObjectNode document(Finding finding) {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("check", finding.subject())
                .put("verdict", finding.verdict().name().toLowerCase(Locale.ROOT))
                .put("message", finding.message());
        @Nullable String advice = finding.advice();
        return advice == null ? json : json.put("advice", advice);
    }
}
