package io.keelson.server.engine.dispatch;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.NewProposal;
import io.keelson.api.worker.Progress;
import io.keelson.api.worker.Release;
import io.keelson.api.worker.Report;
import io.keelson.api.worker.ReportedUsage;
import io.keelson.core.money.Tokens;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.engine.tool.Proposed;
import io.keelson.server.tenant.secret.Redaction;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Values of workers' reports as commands contain them: secrets redacted, texts bounded. */
final class ReportedValues {
    private static final int MAX_MESSAGE = 4_000;
    private static final int MAX_LOG_LINES = 1_000;

    private ReportedValues() {}

    static Tokens tokens(Report.WithUse report) {
        ReportedUsage parts = report.usage();
        return parts == null ? Tokens.undivided(report.tokens())
                : new Tokens(parts.input(), parts.cacheRead(), parts.cacheWrite(), parts.output(), parts.reasoning());
    }

    static @Nullable String model(Redaction redaction, Report.WithUse report) {
        String named = report.model();
        return named == null ? null : redaction.text(named);
    }

    /** The use without an output. */
    static Result spent(Redaction redaction, Report.WithUse report) {
        return Result.spent(tokens(report), report.cost(), model(redaction, report));
    }

    static boolean hasUse(Report.WithUse report) {
        return report.tokens() > 0 || report.usage() != null || report.cost() != null;
    }

    static boolean hasNotes(Report.WithNotes report) {
        return report.progress() != null || !report.logs().isEmpty();
    }

    /** A heartbeat with the notes of a report. */
    static Heartbeat notes(Report.WithNotes report) {
        return Heartbeat.empty(report.stepId(), report.leaseEpoch()).with(report.progress(), report.logs(), null);
    }

    static Heartbeat redacted(Heartbeat beat, Redaction redaction) {
        Progress progress = beat.progress();
        return beat.using(beat.tokens(), beat.usage(), beat.cost(), model(redaction, beat)).with(
                progress == null ? null : new Progress(progress.fraction(), text(redaction, progress.message())),
                beat.logs().stream().limit(MAX_LOG_LINES).map(line -> text(redaction, line)).toList(),
                beat.details() == null ? null : redaction.json(beat.details()));
    }

    /** Cut only after redaction: a secret that is cut in two would not be found. */
    static String text(Redaction redaction, String text) {
        String redacted = redaction.text(text);
        return redacted.length() <= MAX_MESSAGE ? redacted : SafeText.clean(redacted.substring(0, MAX_MESSAGE));
    }

    static StepError error(Redaction redaction, String code, @Nullable String errorClass, String message,
            @Nullable Long retryAfterMs) {
        return new StepError(redaction.text(code),
                errorClass == null ? ErrorClass.INFRASTRUCTURE
                        : ErrorClass.valueOf(errorClass.toUpperCase(Locale.ROOT)),
                text(redaction, message), millis(retryAfterMs));
    }

    static @Nullable Deferral deferral(Redaction redaction, Release.@Nullable Deferral given) {
        return given == null ? null
                : new Deferral(Duration.ofMillis(given.retryAfterMs()),
                        given.busy() == null ? null : redaction.text(given.busy()),
                        error(redaction, Objects.requireNonNullElse(given.errorCode(), "UPSTREAM_UNAVAILABLE"), null,
                                given.message(), null));
    }

    static Proposed proposed(NewProposal given) {
        Long seconds = given.expiresInSeconds();
        return new Proposed(UuidCreator.getTimeOrderedEpoch(), given.title(), given.body(), given.data(),
                seconds == null ? null : Duration.ofSeconds(seconds));
    }

    static @Nullable Duration millis(@Nullable Long millis) {
        return millis == null ? null : Duration.ofMillis(millis);
    }
}
