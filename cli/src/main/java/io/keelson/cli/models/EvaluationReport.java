package io.keelson.cli.models;

import io.keelson.cli.models.Trial.Outcome;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** An evaluation's result: a row for the original and for each variant, and each trial that has not passed. */
final class EvaluationReport {
    private static final int SCORE_DIGITS = 2;
    private static final int COST_DIGITS = 6;
    private static final int MESSAGE = 300;

    private final EvaluationFile file;
    private final List<Trial> trials;

    EvaluationReport(EvaluationFile file, List<Trial> trials) {
        this.file = file;
        this.trials = trials;
    }

    /** Whether all trials of variants have passed. */
    boolean passed() {
        return trials.stream().filter(each -> each.number() > 0).allMatch(each -> each.outcome() == Outcome.PASSED);
    }

    List<String> lines(Style style) {
        Table table = new Table("VARIANT", "PASSED", "SCORE", "SPREAD", "CREDITS", "TURNS", "CALLS");
        for (String variant : variants()) {
            List<Trial> own = of(variant);
            List<BigDecimal> scores = scores(own);
            table.row(TerminalText.clean(variant), passed(own) + " of " + own.size(),
                    scores.isEmpty() ? "" : score(mean(scores, SCORE_DIGITS)),
                    scores.size() < 2 ? "" : score(least(scores)) + " to " + score(most(scores)),
                    AmountText.decimal(mean(own.stream().map(Trial::cost).toList(), COST_DIGITS)),
                    figure(own.stream().map(Trial::turns).toList()), figure(own.stream().map(Trial::calls).toList()));
        }
        List<String> lines = new ArrayList<>(table.lines(style));
        lines.add(style
                .dim("SCORE, CREDITS, TURNS and CALLS are means of a trial; SPREAD is the lowest to the highest score"));
        trials.stream().filter(each -> each.number() > 0 && each.outcome() != Outcome.PASSED)
                .forEach(each -> lines.add(failure(style, each)));
        return lines;
    }

    private static String failure(Style style, Trial trial) {
        String why = Stream.of(trial.errorCode(), trial.errorMessage()).filter(Objects::nonNull)
                .map(TerminalText::clean).reduce((code, message) -> code + ": " + message)
                .orElse("a person has to decide");
        return style.red(trial.outcome().wire()) + "  " + TerminalText.clean(trial.variant() + ", " + trial.name())
                + (trial.run() == null ? "" : ", run " + trial.run()) + ": "
                + (why.length() <= MESSAGE ? why : why.substring(0, MESSAGE) + "…");
    }

    ObjectNode document() {
        ObjectNode document = Json.object().put("name", file.name()).put("calls", file.recorded() ? "recorded" : "live")
                .put("passed", passed());
        ArrayNode variants = document.putArray("variants");
        for (String variant : variants()) {
            List<Trial> own = of(variant);
            ObjectNode row = variants.addObject().put("name", variant).put("trials", own.size())
                    .put("passed", passed(own));
            List<BigDecimal> scores = scores(own);
            row.putObject("score").put("mean", scores.isEmpty() ? null : mean(scores, SCORE_DIGITS))
                    .put("lowest", scores.isEmpty() ? null : least(scores))
                    .put("highest", scores.isEmpty() ? null : most(scores));
            row.put("cost", own.stream().map(Trial::cost).reduce(BigDecimal.ZERO, BigDecimal::add))
                    .put("turns", own.stream().mapToInt(Trial::turns).sum())
                    .put("calls", own.stream().mapToInt(Trial::calls).sum());
        }
        ArrayNode all = document.putArray("trials");
        trials.forEach(each -> all.add(document(each)));
        return document;
    }

    private static ObjectNode document(Trial trial) {
        ObjectNode document = Json.object().put("case", trial.name()).put("variant", trial.variant())
                .put("number", trial.number()).put("run_id", trial.run()).put("outcome", trial.outcome().wire())
                .put("error_code", trial.errorCode()).put("error_message", trial.errorMessage())
                .put("score", trial.score()).put("cost", trial.cost()).put("turns", trial.turns())
                .put("calls", trial.calls()).put("attempts", trial.attempts());
        document.set("output", trial.output());
        return document;
    }

    private List<String> variants() {
        return Stream.concat(Stream.of(EvaluationFile.ORIGINAL),
                file.variants().stream().map(EvaluationFile.Variant::name)).toList();
    }

    private List<Trial> of(String variant) {
        return trials.stream().filter(each -> each.variant().equals(variant)).toList();
    }

    private static long passed(List<Trial> of) {
        return of.stream().filter(each -> each.outcome() == Outcome.PASSED).count();
    }

    private static List<BigDecimal> scores(List<Trial> of) {
        return of.stream().<@Nullable BigDecimal>map(Trial::score).filter(Objects::nonNull)
                .map(Objects::requireNonNull).toList();
    }

    private static BigDecimal least(List<BigDecimal> of) {
        return of.stream().min(Comparator.naturalOrder()).orElseThrow();
    }

    private static BigDecimal most(List<BigDecimal> of) {
        return of.stream().max(Comparator.naturalOrder()).orElseThrow();
    }

    private static BigDecimal mean(List<BigDecimal> of, int digits) {
        return of.stream().reduce(BigDecimal.ZERO, BigDecimal::add).divide(BigDecimal.valueOf(of.size()), digits,
                RoundingMode.HALF_UP);
    }

    private static String score(BigDecimal score) {
        return score.setScale(SCORE_DIGITS, RoundingMode.HALF_UP).toPlainString();
    }

    private static String figure(List<Integer> of) {
        return AmountText.decimal(mean(of.stream().map(BigDecimal::valueOf).toList(), 1));
    }
}
