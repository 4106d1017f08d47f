package io.keelson.cli.common;

import io.keelson.client.Json;
import io.keelson.client.KeelsonException;
import io.keelson.core.plan.PlanProblem;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * An error as people and programs read it.
 *
 * @param code stable, UPPER_SNAKE
 * @param advice what to do; null where the message says it
 * @param lines line numbers of the problems in the file, by pointer; only in texts for people
 */
public record ErrorReport(int exitCode, String code, String message, List<PlanProblem> problems, List<String> allowed,
        @Nullable String advice, Map<String, Integer> lines) {

    /** The code of an unexpected error. */
    public static final String UNEXPECTED = "UNEXPECTED_ERROR";
    private static final String RUNS = "`keelson runs` lists the runs";

    public static ErrorReport of(Throwable failure) {
        return switch (failure) {
            case CliException e -> new ErrorReport(e.exitCode(), e.code(), String.valueOf(e.getMessage()), e.problems(),
                    List.of(), e.advice(), lines(e));
            case KeelsonException e -> refused(e);
            default -> new ErrorReport(ExitCode.FAILED, UNEXPECTED, String.valueOf(failure), List.of(),
                    List.of(), "this is a bug of Keelson; --debug shows where", Map.of());
        };
    }

    private static Map<String, Integer> lines(CliException failure) {
        Map<String, Integer> lines = new HashMap<>();
        failure.problems().forEach(problem -> failure.line(problem.pointer())
                .ifPresent(line -> lines.put(problem.pointer(), line)));
        return lines;
    }

    private static ErrorReport refused(KeelsonException e) {
        String message = String.valueOf(e.getMessage());
        String prefix = e.code() + ": ";
        int exitCode = e.status() == 400 || e.status() == 422 ? ExitCode.USAGE : ExitCode.FAILED;
        return new ErrorReport(exitCode, e.code(), message.startsWith(prefix) ? message.substring(prefix.length())
                : message, problems(e), e.allowed(), advice(e.code(), message), Map.of());
    }

    /** All that a server has found wrong with a request. */
    public static List<PlanProblem> problems(KeelsonException e) {
        return e.problems().stream()
                .map(each -> new PlanProblem(text(each.code()), text(each.pointer()), text(each.message()))).toList();
    }

    private static @Nullable String advice(String code, String message) {
        return switch (code) {
            case "SERVER_UNREACHABLE" -> "start one with `keelson server`, or correct KEELSON_URL";
            case "UNAUTHENTICATED", "INVALID_API_KEY" ->
                "set KEELSON_API_KEY to the key in the server's <data folder>/api-key";
            case "RUN_NOT_FOUND" -> RUNS;
            case "INVALID_ID" -> message.contains(" key_") ? "`keelson keys` lists the keys"
                    : message.contains(" run_") ? RUNS : null;
            case "RUN_ARCHIVED" -> "`keelson archive restore RUN` brings it back";
            case "MONTHLY_LIMIT_REACHED" -> "`keelson workspaces limits` shows the limit of the month and its use";
            case "INSUFFICIENT_CREDITS" -> "`keelson credits` shows the balance, `keelson credits grant` adds to it";
            case "APPROVAL_AMBIGUOUS" -> "select one of them with --step";
            case "UNKNOWN_PRINCIPAL" -> "`keelson keys` lists them; @me is you";
            case "INVALID_STATE_TRANSITION" -> message.contains("cannot approve") || message.contains("cannot reject")
                    ? "`keelson show RUN` shows what it waits for, and how to answer"
                    : null;
            default -> null;
        };
    }

    /** One line, with a line for each problem below; a stack trace only where asked for. */
    public void print(PrintWriter err) {
        if (problems.size() == 1 && problems.getFirst().message().equals(message)) {
            err.println("error: " + line(problems.getFirst()));
        } else {
            err.println("error: " + message + " [" + code + "]");
            problems.forEach(problem -> err.println("  " + line(problem)));
        }
        if (!allowed.isEmpty()) {
            err.println("  possible: " + String.join(", ", allowed));
        }
        if (advice != null) {
            err.println("  " + advice);
        }
        err.flush();
    }

    private String line(PlanProblem problem) {
        String place =
                problem.pointer().isEmpty() || problem.message().startsWith("--") ? "" : problem.pointer() + ": ";
        Integer line = lines.get(problem.pointer());
        return place + problem.message() + (line == null ? "" : " (line " + line + ")") + " [" + problem.code() + "]";
    }

    public ObjectNode toJson() {
        ObjectNode json = Json.object().put("code", code).put("message", message);
        List<ObjectNode> list = new ArrayList<>();
        for (PlanProblem problem : problems) {
            list.add(Json.object().put("code", problem.code())
                    .put("pointer", problem.pointer()).put("message", problem.message()));
        }
        json.putArray("problems").addAll(list);
        allowed.forEach(json.putArray("allowed")::add);
        if (advice != null) {
            json.put("advice", advice);
        }
        return json;
    }

    private static String text(@Nullable String text) {
        return Objects.requireNonNullElse(text, "");
    }
}
