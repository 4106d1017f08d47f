package io.keelson.cli.models;

import io.keelson.cli.common.CliException;
import io.keelson.cli.common.DocumentFile;
import io.keelson.core.plan.PlanProblem;
import io.keelson.devmodel.DevModel;
import io.keelson.devmodel.Journal;
import io.keelson.devmodel.Script;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.mission.plan.SchemaCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Starts a dev-model by the command's options. Apart from the command, whose signatures each command line loads. */
public final class DevModelStart {

    private static final String INVALID = "INVALID_SCRIPT";

    private DevModelStart() {}

    /**
     * Starts a dev-model that ends with the JVM.
     *
     * @return the port at which it listens
     * @throws CliException where the script, the journal or the address cannot be used
     */
    public static int start(String host, int port, @Nullable String script, @Nullable Path journal, Clock clock) {
        Script rules = script == null ? Script.empty() : read(script);
        InetSocketAddress address;
        try {
            address = new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw CliException.usage("INVALID_HOST", "--host: there is no address " + host);
        }
        Journal entries;
        try {
            entries = new Journal(clock, journal);
        } catch (IOException e) {
            throw CliException.failed("FILE_UNWRITABLE", "cannot write " + journal + ": " + FileProblems.reason(e), e);
        }
        try {
            DevModel model = new DevModel(address, rules, entries, clock);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> close(model), "dev-model-shutdown"));
            return model.port();
        } catch (IOException e) {
            throw CliException.failed(
                    String.valueOf(e.getMessage()).contains("in use") ? "PORT_IN_USE" : "ADDRESS_NOT_USABLE",
                    "cannot listen at " + host + ":" + port + ": " + FileProblems.reason(e), e);
        }
    }

    private static Script read(String file) {
        DocumentFile document = DocumentFile.read(file, "script", INVALID);
        List<PlanProblem> problems = problems(document.document());
        if (!problems.isEmpty()) {
            throw document.invalid(INVALID, problems);
        }
        return new Script(document.document());
    }

    /** All problems of a script; pointers are into the document. */
    static List<PlanProblem> problems(JsonNode document) {
        JsonNode schema = Script.schema();
        List<PlanProblem> problems = SchemaCheck.of(schema, schema).check(document);
        return problems.isEmpty()
                ? Script.contradictions(document).stream()
                        .map(each -> new PlanProblem(each.code(), each.pointer(), each.message())).toList()
                : problems;
    }

    private static void close(DevModel model) {
        try {
            model.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
