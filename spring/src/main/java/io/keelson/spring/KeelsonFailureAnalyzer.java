package io.keelson.spring;

import io.keelson.client.KeelsonException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says why an application does not start that the server refuses. */
final class KeelsonFailureAnalyzer extends AbstractFailureAnalyzer<KeelsonException> {

    @Override
    protected FailureAnalysis analyze(Throwable failure, KeelsonException cause) {
        String action = cause.code().equals("NO_SERVER_KNOWN")
                ? "Start one on this machine with 'keelson server', or set keelson.url."
                : "Check keelson.url and keelson.api-key; the key of a worker needs the scope work.";
        return new FailureAnalysis("Keelson: " + cause.getMessage(), action, cause);
    }
}
