package io.keelson.server.annex.oidc;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.tenant.auth.FederatedSessions;
import io.keelson.server.tenant.secret.SecretException;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Exchanges refresh tokens before the tokens of sessions end. */
final class SessionRenewal implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SessionRenewal.class);
    private static final Duration PERIOD = Duration.ofSeconds(5);
    /** Longer than a request to the provider may take, and a number of them in turn. */
    private static final Duration LEASE = Duration.ofSeconds(60);
    private static final int AT_ONCE = 5;

    private final SignIn signIn;
    private final FederatedSessions sessions;
    private final BackgroundTask task = BackgroundTask.every("session-renewal", PERIOD, this::renew);

    SessionRenewal(SignIn signIn, FederatedSessions sessions) {
        this.signIn = signIn;
        this.sessions = sessions;
    }

    void start() {
        task.start();
    }

    List<BackgroundTask> tasks() {
        return List.of(task);
    }

    private void renew() {
        List<FederatedSessions.Open> due;
        do {
            due = sessions.due(LEASE, AT_ONCE);
            due.forEach(this::renew);
        } while (due.size() == AT_ONCE);
    }

    private void renew(FederatedSessions.Open session) {
        try {
            signIn.renew(session);
        } catch (ApiProblem | SecretException e) {
            LOG.warn("the tokens of session {} were not renewed, so it ends with them: {}", session.sessionId(),
                    e.getMessage());
        }
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
